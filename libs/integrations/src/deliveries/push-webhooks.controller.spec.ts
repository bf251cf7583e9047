import { createHmac, randomUUID } from 'node:crypto';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { PushFollower } from '@fairlead/contracts';
import type { Recorded } from '@fairlead/eventing';
import { TENANT } from '@fairlead/edge/testing';
import { until } from '@fairlead/postgres/testing';
import { PROVIDERS, type Provider } from '../integration/integration';
import { CodeHostServer } from '../testing/code-host.server';
import { TestService } from '../testing/service';
import { HEAD } from '../testing/shapes';

const SECRET = 'a secret of the host';
const PUSHED = 'b'.repeat(40);
const BEFORE = 'c'.repeat(40);
const ZEROS = '0'.repeat(40);
const TOKENS = { github: 'ghp_good', gitlab: 'glpat-good', gitea: 'gitea-good', bitbucket: 'bb-good' } as const;
const OWNERS = { github: 'octo-org', gitlab: 'team/sub', gitea: 'forge', bitbucket: 'team' } as const;
const IDS = {
  ...{ github: 1_296_000, gitlab: 4, gitea: 100 },
  bitbucket: '{0eb35a0e-6b56-4bd1-9a43-000000000000}',
};

/** The body of a delivery, by default a push of `main`. */
interface Reported {
  readonly ref?: string;
  readonly after?: string;
  readonly before?: string;
  readonly message?: string;
  readonly url?: string;
  readonly id?: number | string;
}

interface Form {
  readonly body: (reported: Reported & { readonly url: string }) => object;
  readonly headers: (body: string, secret: string, id: string) => Record<string, string>;
}

const hmac = (body: string, secret: string) => createHmac('sha256', secret).update(body).digest('hex');
const author = { name: 'Ada Author', email: 'ada@example.com', username: 'ada' };
const gitHubLike =
  (pusher: object): Form['body'] =>
  ({ ref = 'refs/heads/main', after = PUSHED, before = BEFORE, message = 'Fix it\n\nMore.', url, id }) => ({
    ...{ ref, before, after, repository: { id, html_url: url, default_branch: 'main' }, forced: false, commits: [] },
    ...{ head_commit: after === ZEROS ? null : { id: after, message, author }, pusher, sender: { login: 'octo' } },
  });

const FORMS: Record<Provider, Form> = {
  github: {
    body: gitHubLike({ name: 'pia', email: 'pia@example.com' }),
    headers: (body, secret, id) => ({
      'x-github-event': 'push',
      'x-github-delivery': id,
      'x-github-hook-id': '292430182',
      'x-hub-signature-256': `sha256=${hmac(body, secret)}`,
    }),
  },
  gitea: {
    body: gitHubLike({ id: 1, login: 'pia', username: 'pia' }),
    headers: (body, secret, id) => ({
      'x-gitea-event': 'push',
      'x-gitea-delivery': id,
      'x-gitea-signature': hmac(body, secret),
    }),
  },
  gitlab: {
    body: ({ ref = 'refs/heads/main', after = PUSHED, before = BEFORE, message = 'Fix it\n\nMore.', url, id }) => ({
      ...{ object_kind: 'push', event_name: 'push', ref, before, after, user_username: 'pia', user_name: 'Pia P.' },
      checkout_sha: after === ZEROS ? null : after,
      project: { id, web_url: url, git_http_url: `${url}.git` },
      commits: after === ZEROS ? [] : [{ id: after, message, title: message.split('\n')[0], author }],
      total_commits_count: 1,
      push_options: {},
    }),
    headers: (_, secret, id) => ({
      'x-gitlab-event': 'Push Hook',
      'x-gitlab-token': secret,
      'x-gitlab-webhook-uuid': randomUUID(),
      // The same for all that one event sets off.
      'x-gitlab-event-uuid': '13792a34-cac6-4fda-95a8-c58e00a3954e',
      'idempotency-key': id,
    }),
  },
  bitbucket: {
    body: ({ ref = 'refs/heads/main', after = PUSHED, before = BEFORE, message = 'Fix it\n\nMore.', url, id }) => {
      const [, kind, name] = /^refs\/(heads|tags)\/(.*)$/.exec(ref)!;
      const at = (hash: string) => {
        const target = { type: 'commit', hash, message, author: { raw: 'Ada Author <a@example.com>', type: 'author' } };
        return hash === ZEROS ? null : { type: kind === 'tags' ? 'tag' : 'branch', name, target };
      };
      return {
        actor: { type: 'user', display_name: 'Pia P.', nickname: 'pia' },
        repository: { type: 'repository', uuid: id, links: { html: { href: url } } },
        push: { changes: [{ old: at(before), new: at(after), forced: false, commits: [], truncated: false }] },
      };
    },
    headers: (body, secret, id) => ({
      'x-event-key': 'repo:push',
      'x-hook-uuid': 'a4b54bb9-3d9f-4d3a-9b8f-0a9d4a5e3a4c',
      'x-request-uuid': id,
      'x-attempt-number': '1',
      'x-hub-signature': `sha256=${hmac(body, secret)}`,
    }),
  },
};

let service: TestService;
let hosts: CodeHostServer[] = [];

beforeAll(async () => {
  service = await TestService.start({ deliveries: { patience: 60_000, mostOfIntegration: 20 } });
});
afterEach(async () => {
  service.followers.length = 0;
  for (const host of hosts) await host.stop();
  hosts = [];
});
afterAll(async () => {
  await service?.stop();
});

/** An integration with a host of its own, and what is delivered for it. */
async function startHost(provider: Provider, webhook_secret: string | undefined = SECRET) {
  const host = await CodeHostServer.start(provider);
  hosts.push(host);
  const credentials = { token: TOKENS[provider] };
  const id = await service.add({ provider, base_url: host.origin, credentials, webhook_secret });
  const url = `${host.origin}/${OWNERS[provider]}/agent-0`;
  const { body, headers } = FORMS[provider];
  const send = async (text: string, sent: Record<string, string>) =>
    service.send('POST', `/v1/integrations/${id}/webhook`, {
      body: text,
      headers: { 'x-api-key': '', 'content-type': 'application/json', ...sent },
    });
  const text = (reported: Reported = {}) => JSON.stringify(body({ url, id: IDS[provider], ...reported }));
  return {
    ...{ host, id, url, send, text },
    headersOf: (sent: string, delivery: string = randomUUID(), secret = SECRET) => headers(sent, secret, delivery),
    deliver: async (reported: Reported = {}, delivery: string = randomUUID()) => {
      const sent = text(reported);
      return send(sent, headers(sent, SECRET, delivery));
    },
    follow: (follower: Partial<PushFollower> = {}) => {
      const known = { repo_ref: 'main', repo_commit_sha: null, skipped_commits: [], refusal: null, paths: [] };
      const deployment_id = randomUUID();
      service.followers.push({ deployment_id, name: 'agent', repo_url: url, ...known, ...follower });
      return deployment_id;
    },
    log: async (query = '') => (await service.send('GET', `/v1/integrations/${id}/deliveries${query}`)).json.resources,
    /** The delivery once the host has been asked about it. */
    settled: async (delivery: string) => {
      let found: Awaited<ReturnType<TestService['send']>>['json'];
      await until(async () => {
        found = (await service.send('GET', `/v1/integrations/${id}/deliveries/${delivery}`)).json;
        return found.status !== 'waiting';
      });
      return found;
    },
  };
}

/** Every push that deployments were told of an integration. */
async function pushesOf(id: string): Promise<Recorded[]> {
  const found: Recorded[] = [];
  const end = await service.store.head();
  const stop = new AbortController();
  for await (const { events, position } of service.store.subscribe(0n, stop.signal)) {
    found.push(
      ...events.filter(
        ({ type, data }) => type === 'PushReceived' && (data as { integration_id: string }).integration_id === id,
      ),
    );
    if (position >= end) stop.abort();
  }
  return found;
}

const commitsOf = async (id: string) =>
  (await pushesOf(id)).map(({ data }) => (data as { repo_commit_sha: string }).repo_commit_sha);

describe.each(PROVIDERS)('A delivery of %s', (provider) => {
  it('lets deployments follow the head of the branch, once, and leaves a trace of all that it says', async () => {
    const { id, url, deliver, follow, settled, log } = await startHost(provider);
    const deployment_id = follow();
    const other = follow({ name: 'other', repo_ref: 'release' });
    const answer = await deliver({}, 'one');
    expect([answer.status, answer.json]).toEqual([
      202,
      {
        pushes: 1,
        delivery_id: expect.any(String),
        status: 'waiting',
        detail: 'The code host is asked for the head of refs/heads/main.',
        repeated: false,
      },
    ]);
    const delivery_id = answer.json.delivery_id as string;
    const done = await settled(delivery_id);
    for (let n = 0; n < 2; n++) {
      expect((await deliver({}, 'one')).json).toMatchObject({ delivery_id, repeated: true, status: 'done' });
    }
    const [push, ...more] = await pushesOf(id);
    expect(more).toEqual([]);
    expect(push).toMatchObject({
      metadata: { tenant: TENANT, actor: 'system:integrations' },
      data: {
        ...{ integration_id: id, repo_url: url, ref: 'refs/heads/main', repo_commit_sha: HEAD },
        ...{ deployments: [deployment_id] },
        // The head is another commit than the delivered one: it has an author and a message of its own.
        cause: { delivery_id, pusher: 'pia', author: expect.stringMatching(/^Ada Author/), subject: 'Fix the agent' },
      },
    });
    expect(done).toMatchObject({
      ...{ id: delivery_id, host_id: 'one', status: 'done', reason: null, times: 1 },
      pushes: [
        {
          ...{ repo_url: url, ref: 'refs/heads/main', before: BEFORE, commit: PUSHED, pusher: 'pia', head: HEAD },
          ...{ author: expect.stringMatching(/^Ada Author/), subject: 'Fix it', status: 'done', attempts: 1 },
          deployments: [
            { deployment_id, name: 'agent', revision_id: null, reason: null },
            { deployment_id: other, name: 'other', revision_id: null, reason: 'follows release' },
          ],
        },
      ],
    });
    expect((await log())[0]).toMatchObject({ id: delivery_id, times: 3 });
  });

  it('that comes late puts no older commit live, and one of a forced push does', async () => {
    const { id, host, deliver, follow, settled } = await startHost(provider);
    follow();
    const newer = await deliver({ after: HEAD });
    expect((await settled(newer.json.delivery_id)).status).toBe('done');
    service.followers[0] = { ...service.followers[0]!, repo_commit_sha: HEAD };
    const late = await settled((await deliver({ after: PUSHED })).json.delivery_id);
    expect(late).toMatchObject({
      status: 'ignored',
      reason: 'No revision of refs/heads/main is made: the latest revision has this commit already.',
    });
    expect(await commitsOf(id)).toEqual([HEAD]);
    service.followers[0] = { ...service.followers[0], repo_commit_sha: BEFORE, skipped_commits: [HEAD] };
    expect(await settled((await deliver({ after: HEAD })).json.delivery_id)).toMatchObject({
      status: 'ignored',
      reason: 'No revision of refs/heads/main is made: it was rolled back from this commit, which is skipped.',
    });
    service.followers[0] = { ...service.followers[0], repo_commit_sha: HEAD, skipped_commits: [] };
    host.branches.main = { ...host.branches.main!, commit: BEFORE };
    expect(await settled((await deliver({ before: HEAD, after: BEFORE })).json.delivery_id)).toMatchObject({
      status: 'done',
      pushes: [{ head: BEFORE }],
    });
    expect(await commitsOf(id)).toEqual([HEAD, BEFORE]);
  });

  it('waits while the host does not answer, is set aside with the reason when it refuses, and can be tried again', async () => {
    const { id, host, deliver, follow, settled } = await startHost(provider);
    follow();
    host.faults = Array.from({ length: 4 }, () => ({ status: 503 }));
    const waited = await settled((await deliver()).json.delivery_id);
    expect(waited).toMatchObject({ status: 'done', pushes: [{ status: 'done', head: HEAD }] });
    expect(waited.pushes[0].attempts).toBeGreaterThan(1);
    host.branches = {};
    const gone = await settled((await deliver({ message: 'Second' })).json.delivery_id);
    expect(gone).toMatchObject({
      status: 'set_aside',
      reason: 'The code host knows no branch main in the repository, or its credentials may not see it.',
    });
    const retry = (delivery: string) => service.send('POST', `/v1/integrations/${id}/deliveries/${delivery}/retry`);
    expect(await retry(waited.id)).toMatchObject({ status: 409 });
    host.branches = { main: { commit: PUSHED, message: 'There', author: 'Ada' } };
    expect(await retry(gone.id)).toMatchObject({ status: 202, json: { id: gone.id } });
    expect(await settled(gone.id)).toMatchObject({ status: 'done', pushes: [{ head: PUSHED }] });
    expect(await commitsOf(id)).toEqual([HEAD, PUSHED]);
  });

  it('is found by the own id of the host when the repository was renamed, and not by a name that another one took', async () => {
    const { id, host, url, deliver, follow, settled } = await startHost(provider);
    const deployment_id = follow();
    await settled((await deliver()).json.delivery_id);
    host.renamed = 'renamed';
    host.branches = { main: { commit: PUSHED, message: 'There', author: 'Ada' } };
    const renamed = await deliver({ url: url.replace('agent-0', 'renamed') });
    expect(await settled(renamed.json.delivery_id)).toMatchObject({
      status: 'done',
      pushes: [{ head: PUSHED, deployments: [{ deployment_id, reason: null }] }],
    });
    host.taken = true;
    const foreign = await deliver({ id: provider === 'bitbucket' ? '{another}' : 77, after: 'e'.repeat(40) });
    expect(await settled(foreign.json.delivery_id)).toMatchObject({
      status: 'ignored',
      reason: expect.stringContaining('another repository has the address'),
    });
    expect(await commitsOf(id)).toEqual([HEAD, PUSHED]);
    host.gone = true;
    const anew = await deliver({ id: provider === 'bitbucket' ? '{another}' : 77, message: 'Anew' });
    expect(await settled(anew.json.delivery_id)).toMatchObject({ status: 'done', pushes: [{ head: 'e'.repeat(40) }] });
  });

  it('is left out by [skip ci], and by path filters unless the host does not tell all files', async () => {
    const { id, host, deliver, follow, settled } = await startHost(provider);
    follow({ paths: ['docs/*'] });
    const skipped = await deliver({ message: 'Fix [skip ci]' });
    expect(skipped.json).toMatchObject({
      status: 'ignored',
      detail: 'The message of the newest commit says that it is not to be built.',
    });
    const filtered = await settled((await deliver()).json.delivery_id);
    expect(filtered).toMatchObject({ status: 'ignored', reason: expect.stringContaining('build_on_push_paths') });
    expect(await commitsOf(id)).toEqual([]);
    host.changed = { files: ['docs/a.md'] };
    expect((await settled((await deliver()).json.delivery_id)).status).toBe('done');
    host.changed = { files: ['src/a.ts'], more: true };
    expect((await settled((await deliver()).json.delivery_id)).status).toBe('done');
    host.changed = { files: ['src/a.ts'] };
    expect((await settled((await deliver({ before: ZEROS })).json.delivery_id)).status).toBe('done');
    expect(await commitsOf(id)).toHaveLength(3);
  });

  it('says why no deployment follows', async () => {
    const { deliver, follow, log } = await startHost(provider);
    const said = async (reported: Reported = {}) => {
      const { json } = await deliver(reported);
      return [json.status, json.detail];
    };
    expect(await said()).toEqual(['ignored', 'No deployment of the integration comes from this repository.']);
    follow();
    expect(await said({ ref: 'refs/heads/next' })).toEqual([
      'ignored',
      'No deployment follows refs/heads/next of this repository.',
    ]);
    expect((await said({ ref: 'refs/tags/v1' }))[1]).toContain('No deployment follows refs/tags/v1');
    service.followers[0] = { ...service.followers[0]!, refusal: 'builds no pushes: build_on_push is not true' };
    expect(await said()).toEqual(['ignored', 'The deployments that follow refs/heads/main build no pushes now.']);
    const [newest, ...older] = await log();
    expect(newest.pushes[0].deployments[0].reason).toBe('builds no pushes: build_on_push is not true');
    expect(older).toHaveLength(3);
    expect(await log('?status=done')).toEqual([]);
  });

  it('is judged again when the host repeats it after it was left out', async () => {
    const { deliver, follow, settled } = await startHost(provider);
    const first = await deliver({}, 'again');
    expect(first.json.status).toBe('ignored');
    follow();
    const second = await deliver({}, 'again');
    expect(second.json).toMatchObject({ delivery_id: first.json.delivery_id, status: 'waiting', repeated: true });
    expect((await settled(first.json.delivery_id)).status).toBe('done');
  });

  it('without an id is told from others by its body, and differs from one with the same body and another id', async () => {
    const { send, text, headersOf } = await startHost(provider);
    const body = text();
    const bare = () =>
      Object.fromEntries(
        Object.entries(headersOf(body)).filter(([name]) => !/delivery|idempotency|request-uuid/.test(name)),
      );
    const first = await send(body, bare());
    const again = await send(body, bare());
    expect([first.json.repeated, again.json.repeated]).toEqual([false, true]);
    expect(again.json.delivery_id).toBe(first.json.delivery_id);
    await service.age(first.json.delivery_id as string, 11 * 60_000);
    const later = await send(body, bare());
    expect(later.json).toMatchObject({
      repeated: false,
      delivery_id: expect.not.stringMatching(first.json.delivery_id),
    });
    expect((await send(body, headersOf(body))).json.repeated).toBe(false);
  });

  it('is not believed without the right signature, which one entry of the log tells', async () => {
    const { id, send, text, headersOf, follow, log } = await startHost(provider);
    follow();
    const body = text();
    const event = Object.entries(headersOf(body)).find(([name]) => /event(-key)?$/.test(name))!;
    for (const sent of [headersOf(body, 'x', 'another secret'), { [event[0]]: event[1] }]) {
      const answer = await send(body, sent);
      expect([answer.status, answer.json]).toEqual([401, { detail: 'The signature of the delivery is not valid.' }]);
    }
    if (provider !== 'gitlab') expect((await send(body.replace('main', 'evil'), headersOf(body))).status).toBe(401);
    expect(await pushesOf(id)).toEqual([]);
    expect(await log()).toMatchObject([
      { status: 'refused', reason: 'The signature of the delivery is not valid.', pushes: [] },
    ]);
  });

  it('that is no push of a commit does nothing', async () => {
    const { id, deliver, send, text, headersOf, log } = await startHost(provider);
    expect((await deliver({ after: ZEROS })).json).toMatchObject({ pushes: 0, status: 'ignored' });
    const body = text();
    const ping = Object.fromEntries(
      Object.entries(headersOf(body)).map(([name, value]) => [name, /event(-key)?$/.test(name) ? 'ping' : value]),
    );
    expect((await send(body, ping)).json).toMatchObject({ pushes: 0, detail: expect.stringContaining('event: ping') });
    expect((await log())[0]).toMatchObject({ event: 'ping', status: 'ignored' });
    expect(await pushesOf(id)).toEqual([]);
  });

  it('that cannot be read is refused, and the log says so', async () => {
    const { send, headersOf, log } = await startHost(provider);
    for (const broken of ['payload=%7B%7D', '{"ref":5}', '[]', 'null']) {
      expect((await send(broken, headersOf(broken))).status).toBe(400);
    }
    expect((await log()).map(({ status }: { status: string }) => status)).toEqual(Array(4).fill('refused'));
  });

  it('may hold anything beside the push', async () => {
    const { send, text, headersOf } = await startHost(provider);
    const odd = [null, 7, [], {}, 'x'.repeat(100_000), { name: 5, login: [], message: {}, raw: 1 }, '\u0000\ud800'];
    for (const value of odd) {
      const sent = JSON.parse(text()) as Record<string, unknown>;
      for (const member of ['pusher', 'sender', 'head_commit', 'commits', 'actor', 'user_username', 'push_options']) {
        sent[member] = value;
      }
      const body = JSON.stringify(sent);
      expect((await send(body, headersOf(body))).status).toBe(202);
    }
  });
});

it('asks the host once for all deliveries of a branch that wait, and once for each branch of one delivery', async () => {
  const { id, host, deliver, follow, settled, send, headersOf, text, log } = await startHost('bitbucket');
  follow();
  follow({ repo_ref: 'refs/heads/feature/x' });
  const body = JSON.parse(text()) as { push: { changes: object[] } };
  const [change] = body.push.changes as { new: { name: string } }[];
  body.push.changes.push({ ...change, new: { ...change!.new, name: 'feature/x' } });
  const both = JSON.stringify(body);
  const answer = await send(both, headersOf(both));
  expect(answer.json.pushes).toBe(2);
  expect((await settled(answer.json.delivery_id)).pushes).toMatchObject([{ status: 'done' }, { status: 'done' }]);
  expect(await commitsOf(id)).toEqual([HEAD, HEAD]);
  host.delay = 200;
  await Promise.all(Array.from({ length: 15 }, () => deliver()));
  for (const { id: one } of await log()) expect((await settled(one)).status).toBe('done');
  expect((await pushesOf(id)).length).toBeLessThan(15);
});

it('sets a delivery aside when the host has not answered for as long as it is waited for', async () => {
  const impatient = await TestService.start({ deliveries: { patience: 0 } });
  const host = await CodeHostServer.start('gitea');
  hosts.push(host);
  const repo_url = `${host.origin}/forge/agent-0`;
  const known = { repo_ref: 'main', repo_commit_sha: null, skipped_commits: [], refusal: null, paths: [] };
  impatient.followers.push({ deployment_id: randomUUID(), name: 'agent', repo_url, ...known });
  const id = await impatient.add({
    ...{ provider: 'gitea', base_url: host.origin, credentials: { token: 'gitea-good' }, webhook_secret: SECRET },
  });
  host.faults = Array.from({ length: 10 }, () => ({ status: 503 }));
  const body = JSON.stringify(FORMS.gitea.body({ url: repo_url, id: 100 }));
  const headers = { 'x-api-key': '', 'content-type': 'application/json', ...FORMS.gitea.headers(body, SECRET, 'x') };
  await impatient.send('POST', `/v1/integrations/${id}/webhook`, { body, headers });
  const log = async () => (await impatient.send('GET', `/v1/integrations/${id}/deliveries`)).json.resources;
  await until(async () => (await log())[0].status === 'set_aside');
  expect((await log())[0]).toMatchObject({ reason: 'The code host Gitea answered 503.', pushes: [{ attempts: 1 }] });
  await impatient.stop();
});

it('keeps the newest deliveries of an integration, and none of a removed one', async () => {
  const { id, deliver, log } = await startHost('github');
  for (let n = 0; n < 45; n++) await deliver();
  expect((await log('?limit=100')).length).toBeLessThanOrEqual(40);
  const first = await service.send('GET', `/v1/integrations/${id}/deliveries?limit=5`);
  const next = await service.send(
    'GET',
    `/v1/integrations/${id}/deliveries?limit=5&cursor=${first.json.next_cursor as string}`,
  );
  expect(next.json.resources[0].id < first.json.resources[4].id).toBe(true);
  await service.send('DELETE', `/v1/integrations/${id}`);
  await until(async () => (await service.rows('integration_deliveries', id)) === 0);
  expect((await service.send('GET', `/v1/integrations/${id}/deliveries`)).status).toBe(404);
});

it('answers 404 for an integration that is not there', async () => {
  const { id, deliver } = await startHost('github');
  await service.send('DELETE', `/v1/integrations/${id}`);
  expect((await deliver()).status).toBe(404);
});

describe('Deliveries that nobody has proved yet', () => {
  const head = (id: string, length: number) =>
    `POST /v1/integrations/${id}/webhook HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;

  it('are refused beyond 4 MiB', async () => {
    const { send } = await startHost('github');
    const { status, json } = await send(' '.repeat(4 * 1024 * 1024 + 1), {});
    expect([status, json.detail]).toEqual([413, 'The request body is larger than the limit of 4194304 bytes.']);
  });

  it('have only a share of the places, and of the memory, for their address', async () => {
    const { id, deliver } = await startHost('github');
    if (!service.app.getHttpServer().listening) await service.app.listen(0, '127.0.0.1');
    const { port } = service.app.getHttpServer().address() as AddressInfo;
    const sockets: Socket[] = [];
    let refused = '';
    while (refused === '') {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      socket.setEncoding('utf8').once('data', (text: string) => (refused ||= text));
      socket.write(`${head(id, 4_000_000)}{`);
      sockets.push(socket);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(refused).toMatch(/^HTTP\/1.1 503 [^]*Too many deliveries at a time/);
    for (const socket of sockets) socket.destroy();
    let answer;
    do answer = await deliver();
    while (answer.status === 503);
    expect([answer.status, sockets.length > 40]).toEqual([202, true]);
  });
});
