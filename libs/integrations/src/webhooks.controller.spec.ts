import { createHmac } from 'node:crypto';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Recorded } from '@fairlead/eventing';
import { TENANT } from '@fairlead/edge/testing';
import type { Provider } from './integration';
import { TestService } from './testing/service';

const SECRET = 'a secret of the host';
const SHA = 'b'.repeat(40);
const ZEROS = '0'.repeat(40);
const repository = { id: 1, html_url: 'https://code.example/team/agent', default_branch: 'main' };
const change = (name: string, hash: string, type = 'branch') => ({
  new: { type, name, target: { type: 'commit', hash } },
});

interface Form {
  readonly body: object;
  readonly headers: (body: string, secret: string) => Record<string, string>;
  readonly base?: string;
  readonly others: readonly object[];
}

const hmac = (body: string, secret: string) => createHmac('sha256', secret).update(body).digest('hex');
const gitHubLike = (ref: string, after: string) => ({ ref, before: ZEROS, after, repository, commits: [], pusher: {} });
const gitLab = (ref: string, after: string) => ({
  object_kind: 'push',
  ref,
  before: ZEROS,
  after,
  checkout_sha: after,
  project: { id: 15, web_url: repository.html_url, git_http_url: `${repository.html_url}.git` },
});
const bitbucket = (...changes: object[]) => ({
  actor: { type: 'user' },
  repository: { type: 'repository', links: { html: { href: repository.html_url } } },
  push: { changes },
});

const FORMS: Record<Provider, Form> = {
  github: {
    body: gitHubLike('refs/heads/main', SHA),
    headers: (body, secret) => ({
      'x-github-event': 'push',
      'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      'x-hub-signature-256': `sha256=${hmac(body, secret)}`,
    }),
    others: [gitHubLike('refs/heads/gone', ZEROS)],
  },
  gitea: {
    base: 'https://code.example',
    body: gitHubLike('refs/heads/main', SHA),
    headers: (body, secret) => ({ 'x-gitea-event': 'push', 'x-gitea-signature': hmac(body, secret) }),
    others: [gitHubLike('refs/heads/gone', ZEROS)],
  },
  gitlab: {
    body: gitLab('refs/heads/main', SHA),
    headers: (_, secret) => ({
      'x-gitlab-event': 'Push Hook',
      'x-gitlab-token': secret,
      'idempotency-key': 'f5e5f430-f57b-4e6e-9fac-d9128cd7232f',
    }),
    others: [gitLab('refs/heads/gone', ZEROS)],
  },
  bitbucket: {
    body: bitbucket(change('main', SHA)),
    headers: (body, secret) => ({ 'x-event-key': 'repo:push', 'x-hub-signature': `sha256=${hmac(body, secret)}` }),
    others: [bitbucket({ new: null, closed: true })],
  },
};

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
});

afterAll(async () => {
  await service?.stop();
});

const integrate = (provider: Provider, webhook_secret?: string) =>
  service.add({ provider, base_url: FORMS[provider].base, credentials: { token: 'a' }, webhook_secret });

const deliver = (id: string, body: string, headers: Record<string, string>) =>
  service.send('POST', `/v1/integrations/${id}/webhook`, {
    body,
    headers: { 'x-api-key': '', 'content-type': 'application/json', ...headers },
  });

/** Every push that was recorded for an integration. */
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

describe.each(Object.keys(FORMS) as Provider[])('%s', (provider) => {
  const { body, headers, others } = FORMS[provider];
  const text = JSON.stringify(body);

  it('tells a push once, however often it is delivered', async () => {
    const id = await integrate(provider, SECRET);
    for (let n = 0; n < 3; n++) {
      const answer = await deliver(id, text, headers(text, SECRET));
      expect([answer.status, answer.json]).toEqual([202, { pushes: 1 }]);
    }
    const [push, ...more] = await pushesOf(id);
    expect(more).toEqual([]);
    expect(push).toMatchObject({
      metadata: { tenant: TENANT, actor: 'system:integrations' },
      data: { integration_id: id, repo_url: repository.html_url, ref: 'refs/heads/main', repo_commit_sha: SHA },
    });
  });

  it('believes nothing without the right signature', async () => {
    const id = await integrate(provider, SECRET);
    const event = Object.entries(headers(text, SECRET)).find(([name]) => /event/.test(name))!;
    for (const sent of [headers(text, 'another secret'), { [event[0]]: event[1] }]) {
      const answer = await deliver(id, text, sent);
      expect([answer.status, answer.json]).toEqual([401, { detail: 'The signature of the delivery is not valid.' }]);
    }
    if (provider !== 'gitlab') {
      expect((await deliver(id, text.replace('main', 'evil'), headers(text, SECRET))).status).toBe(401);
    }
    const bare = await integrate(provider);
    expect((await deliver(bare, text, headers(text, ''))).status).toBe(401);
    expect(await pushesOf(id)).toEqual([]);
  });

  it('takes what is no push of a commit without doing anything', async () => {
    const id = await integrate(provider, SECRET);
    for (const other of others.map((payload) => JSON.stringify(payload))) {
      expect((await deliver(id, other, headers(other, SECRET))).json).toEqual({ pushes: 0 });
    }
    const ping = Object.fromEntries(
      Object.entries(headers(text, SECRET)).map(([name, value]) => [name, /event/.test(name) ? 'ping' : value]),
    );
    expect((await deliver(id, text, ping)).json).toEqual({ pushes: 0 });
    expect(await pushesOf(id)).toEqual([]);
  });

  it('refuses a push that it cannot read', async () => {
    const id = await integrate(provider, SECRET);
    for (const broken of ['payload=%7B%7D', '{"ref":5}', '[]', 'null']) {
      expect((await deliver(id, broken, headers(broken, SECRET))).status).toBe(400);
    }
  });
});

it('tells every branch of one delivery', async () => {
  const id = await integrate('bitbucket', SECRET);
  const text = JSON.stringify(bitbucket(change('a', SHA), change('v1', SHA, 'tag'), { new: null }));
  expect((await deliver(id, text, FORMS.bitbucket.headers(text, SECRET))).json).toEqual({ pushes: 2 });
  const refs = (await pushesOf(id)).map(({ data }) => (data as { ref: string }).ref);
  expect(refs).toEqual(['refs/heads/a', 'refs/tags/v1']);
});

it('answers 404 for an integration that is not there', async () => {
  const id = await integrate('github', SECRET);
  await service.send('DELETE', `/v1/integrations/${id}`);
  const text = JSON.stringify(FORMS.github.body);
  expect((await deliver(id, text, FORMS.github.headers(text, SECRET))).status).toBe(404);
});

describe('Deliveries that nobody has proved yet', () => {
  const head = (id: string, length: number) =>
    `POST /v1/integrations/${id}/webhook HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;

  it('are refused beyond 4 MiB', async () => {
    const id = await integrate('github', SECRET);
    const { status, json } = await deliver(id, ' '.repeat(4 * 1024 * 1024 + 1), {});
    expect([status, json.detail]).toEqual([413, 'The request body is larger than the limit of 4194304 bytes.']);
  });

  it('have only a share of the places, and of the memory, for their address', async () => {
    const id = await integrate('github', SECRET);
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
    const text = JSON.stringify(FORMS.github.body);
    let answer;
    do answer = await deliver(id, text, FORMS.github.headers(text, SECRET));
    while (answer.status === 503);
    expect([answer.status, sockets.length > 40]).toEqual([202, true]);
  });
});
