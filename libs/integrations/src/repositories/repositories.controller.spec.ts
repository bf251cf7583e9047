import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CommitResolver } from '@fairlead/contracts';
import { streamName } from '@fairlead/eventing';
import { type Caller, TENANT } from '@fairlead/edge/testing';
import { until } from '@fairlead/postgres/testing';
import type { Provider } from '../integration/integration';
import { CodeHostServer } from '../testing/code-host.server';
import { HEAD } from '../testing/shapes';
import { HASTY, TestService } from '../testing/service';

const TOKENS = { github: 'ghp_good', gitlab: 'glpat-good', gitea: 'gitea-good', bitbucket: 'bb-good' } as const;
const OWNERS = { github: 'octo-org', gitlab: 'team/sub', gitea: 'forge', bitbucket: 'team' } as const;
const PROVIDERS = Object.keys(TOKENS) as Provider[];
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

let service: TestService;
/** Waits for hosts no longer than a test can. */
let hasty: TestService;
const hosts: CodeHostServer[] = [];

beforeAll(async () => {
  [service, hasty] = [await TestService.start(), await TestService.start({ limits: HASTY })];
});

afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.stop()));
});

afterAll(async () => {
  await Promise.all([service?.stop(), hasty?.stop()]);
});

async function startHost(provider: Provider): Promise<CodeHostServer> {
  const host = await CodeHostServer.start(provider);
  hosts.push(host);
  return host;
}

const integrate = (host: CodeHostServer, credentials: object = { token: TOKENS[host.provider] }, by = service) =>
  by.add({ provider: host.provider, base_url: host.origin, credentials });
const listed = (id: string, as: Caller = 'reader', by = service) =>
  by.send('GET', `/v1/integrations/codehost/${id}/repos`, { as });

describe.each(PROVIDERS)('%s', (provider) => {
  it('lists repositories as records of exactly six members', async () => {
    const host = await startHost(provider);
    const id = await integrate(host);
    const { status, json } = await listed(id);
    expect(status).toBe(200);
    expect(json[0]).toEqual({
      host_integration_id: id,
      id: expect.any(Number),
      name: 'agent-0',
      owner: OWNERS[provider],
      url: `${provider === 'bitbucket' ? 'https://bitbucket.org' : host.origin}/${OWNERS[provider]}/agent-0`,
      default_branch: provider === 'gitea' ? 'trunk' : 'main',
    });
    expect(json.every((record: { id: unknown }) => Number.isSafeInteger(record.id))).toBe(true);
  });

  it('fetches all pages', async () => {
    const host = await startHost(provider);
    host.repositories = 230;
    const { json } = await listed(await integrate(host));
    const names = new Set(json.map(({ name, owner }: { name: string; owner: string }) => `${owner}/${name}`));
    const withoutBranch = provider === 'gitlab' || provider === 'bitbucket' ? 1 : 0;
    expect(names.size).toBe((230 - withoutBranch) * (provider === 'bitbucket' ? 2 : 1));
    expect(json).toHaveLength(names.size);
  });

  it('leaves out a repository that has no branch yet', async () => {
    const { json } = await listed(await integrate(await startHost(provider)));
    const hasEmpty = provider === 'gitlab' || provider === 'bitbucket';
    expect(json.some(({ name }: { name: string }) => name === 'agent-3')).toBe(!hasEmpty);
  });

  it('tries again when the host is busy or hangs up, and asks only for what has changed', async () => {
    const host = await startHost(provider);
    host.faults = [{ status: 503 }, 'cut'];
    const id = await integrate(host);
    const first = await listed(id);
    expect(first.status).toBe(200);
    host.asked = [];
    const second = await listed(id);
    expect(second.json).toEqual(first.json);
    expect(new Set(host.asked.map(({ status }) => status))).toEqual(new Set([304]));
  });

  it.each([
    ['wrong credentials', [{ status: 401 }], 502],
    ['a redirect', [{ status: 302, headers: { location: 'http://169.254.169.254/' } }], 502],
    ['nonsense', ['not JSON' as const], 502],
    ['another shape', ['another shape' as const], 502],
    ['failure after failure', [{ status: 500 }, { status: 502 }, { status: 503 }], 502],
    ['silence', ['silent' as const], 504],
  ])('answers %s without the words of the host', async (_, faults, status) => {
    const host = await startHost(provider);
    const by = status === 504 ? hasty : service;
    const id = await integrate(host, undefined, by);
    host.faults = faults;
    const answer = await listed(id, 'reader', by);
    expect([answer.status, Object.keys(answer.json)]).toEqual([status, ['detail']]);
    expect(answer.text).toMatch(/^\{"detail":"The code host [^<{]+"\}$/);
    expect(answer.text).not.toContain('diagnostics');
    expect(answer.text).not.toContain('127.0.0.1');
  });

  it('finds the commit of a branch, and says when there is none', async () => {
    const host = await startHost(provider);
    const resolver = service.app.get(CommitResolver);
    const id = await integrate(host);
    const repository = `${host.origin}/${OWNERS[provider]}/agent-0.git`;
    for (const ref of ['main', 'refs/heads/main', 'feature/x', HEAD]) {
      expect(await resolver.resolve(TENANT, id, repository, ref)).toBe(HEAD);
    }
    await expect(resolver.resolve(TENANT, id, repository, 'nope')).rejects.toThrow(/knows no 'nope'/);
    await expect(resolver.resolve(TENANT, id, 'https://elsewhere.example/a/b', 'main')).rejects.toThrow(/^repo_url/);
  });
});

it('waits as long as the host asks for, but not longer than it may', async () => {
  const host = await startHost('gitea');
  host.faults = [{ status: 429, headers: { 'retry-after': '1' } }];
  const id = await integrate(host);
  const started = Date.now();
  expect((await listed(id)).status).toBe(200);
  expect(Date.now() - started).toBeGreaterThanOrEqual(950);
  host.faults = [{ status: 429, headers: { 'retry-after': '3600' } }];
  const other = await integrate(host);
  const refused = await listed(other);
  expect([refused.status, refused.headers['retry-after']]).toEqual([502, '3600']);
});

it("understands GitHub's limit that is told as 403", async () => {
  const host = await startHost('github');
  const reset = String(Math.ceil(Date.now() / 1000) + 600);
  host.faults = [{ status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset } }];
  const refused = await listed(await integrate(host));
  expect([refused.status, refused.json.detail]).toEqual([502, 'The code host GitHub limits our requests.']);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(500);
});

it('answers the last list, marked as stale, while the host is down', async () => {
  const host = await startHost('gitlab');
  const id = await integrate(host);
  const before = await listed(id);
  host.faults = [{ status: 500 }, { status: 500 }, { status: 500 }];
  const during = await listed(id);
  expect([during.status, during.json]).toEqual([200, before.json]);
  expect(during.headers.warning).toMatch(/^110 - "Response is Stale: The code host GitLab answered 500\."$/);
  expect((await listed(id)).headers.warning).toBeUndefined();
  const other = await integrate(host, undefined, hasty);
  await until(async () => (await listed(other, 'reader', hasty)).status === 200);
  host.faults = ['silent'];
  expect((await listed(other, 'reader', hasty)).headers.warning).toMatch(/^110 - "/);
});

it('answers no stale list once the credentials are refused or were changed', async () => {
  const host = await startHost('gitlab');
  const id = await integrate(host);
  await listed(id);
  host.faults = [{ status: 401 }];
  expect((await listed(id)).json.detail).toContain('check the credentials');
  await service.send('PATCH', `/v1/integrations/${id}`, { body: { credentials: { token: 'glpat-other' } } });
  host.faults = [{ status: 500 }, { status: 500 }, { status: 500 }];
  expect((await listed(id)).status).toBe(502);
});

it('asks a host a few things at a time', async () => {
  const host = await startHost('gitea');
  const ids = await Promise.all(Array.from({ length: 12 }, () => integrate(host)));
  await Promise.all(ids.map((id) => listed(id)));
  expect(host.busiest).toBeGreaterThan(1);
  expect(host.busiest).toBeLessThanOrEqual(4);
});

it('asks once for requests that come while it asks', async () => {
  const host = await startHost('gitea');
  host.faults = [{ status: 429, headers: { 'retry-after': '1' } }];
  const id = await integrate(host);
  const answers = await Promise.all([listed(id), listed(id), listed(id)]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(host.asked.map(({ status }) => status)).toEqual([429, 200]);
});

it('waits for a long list as long as its pages keep coming', async () => {
  const host = await startHost('gitea');
  host.repositories = 300;
  host.delay = 250;
  const id = await integrate(host, undefined, hasty);
  // A page may be late because the machine has stopped for a while.
  await until(async () => (await listed(id, 'reader', hasty)).json.length === 300);
});

it('gives up a list whose pages never end', async () => {
  const host = await startHost('gitea');
  host.repositories = 1_000_000_000;
  const answer = await listed(await integrate(host));
  expect([502, 504]).toContain(answer.status);
});

it('sends credentials to no other host that an answer names', async () => {
  const host = await startHost('gitea');
  const elsewhere = await startHost('gitea');
  const id = await integrate(host);
  const link = `<${elsewhere.origin}/api/v1/user/repos?page=2>; rel="next"`;
  host.faults = [{ status: 200, headers: { link, 'content-type': 'application/json' }, body: '[]' }];
  expect((await listed(id)).status).toBe(502);
  expect(elsewhere.asked).toEqual([]);
});

it('checks the address of the host again with every call', async () => {
  const asked: string[] = [];
  const inside = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end('[]');
  });
  await new Promise<void>((resolve) => inside.listen(0, '127.0.0.2', resolve));
  const base_url = `http://127.0.0.2:${(inside.address() as AddressInfo).port}`;
  const id = await integrate(await startHost('gitea'));
  // It was stored when it could be called: names mean other addresses later.
  const moved = { type: 'IntegrationChanged', data: { base_url } };
  await service.store.append(streamName('integration', id), 1, [moved], { tenant: TENANT });
  const { status, json } = await listed(id);
  await new Promise((resolve) => inside.close(resolve));
  expect([status, json.detail]).toEqual([502, 'The code host Gitea may not be called from here.']);
  expect(asked).toEqual([]);
});

it('signs in as the installation of a GitHub App', async () => {
  const host = await startHost('github');
  host.appKey = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  host.repositories = 120;
  const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
  const id = await integrate(host, { app_id: 7, installation_id: 42, private_key: pem });
  expect((await listed(id)).json).toHaveLength(120);
  expect(await service.app.get(CommitResolver).resolve(TENANT, id, `${host.origin}/octo-org/agent-0`, 'main')).toBe(
    HEAD,
  );
  expect(host.asked.filter(({ path }) => path.endsWith('/access_tokens'))).toHaveLength(1);
});

it('takes an e-mail address and an API token for Bitbucket', async () => {
  const host = await startHost('bitbucket');
  expect((await listed(await integrate(host, { token: 'me@example.com:api-token' }))).json).toHaveLength(8);
});

it('serves the same lists under the other spellings', async () => {
  const id = await integrate(await startHost('gitea'));
  const { json } = await listed(id);
  for (const path of ['managed/codehost', 'github', 'forge/github']) {
    expect((await service.send('GET', `/v1/integrations/${path}/${id}/repos`)).json).toEqual(json);
    expect((await service.send('GET', `/v1/integrations/${path}/install`)).json).toContainEqual({
      id,
      installation_id: 0,
      name: 'host',
    });
  }
});

it('answers an unknown integration, and one of another tenant, with 404', async () => {
  const id = await integrate(await startHost('gitea'));
  for (const [asked, as] of [
    [id, 'stranger'],
    ['019a0000-0000-7000-8000-000000000000', 'reader'],
  ] as const) {
    const answer = await listed(asked, as);
    expect([answer.status, answer.json]).toEqual([404, { detail: `Integration ID ${asked} not found.` }]);
  }
  await expect(
    service.app.get(CommitResolver).resolve(TENANT, TENANT, 'https://a.example/b/c', 'main'),
  ).rejects.toThrow(/not found/);
});
