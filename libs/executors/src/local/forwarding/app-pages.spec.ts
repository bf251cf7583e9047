import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { STRANGER, TENANT, TestRollouts } from '@fairlead/rollouts/testing';
import { LocalApps } from '../local-apps';
import { LocalExecutor } from '../local-executor';

/** Answers what it sees, with a policy of its own, and tries to take the cookie of the pages. */
const SERVER = `
require('node:http').createServer((request, response) => {
  response.setHeader('set-cookie', ['theirs=1; Path=/', 'fairlead-app-' + request.headers.host.split(':')[1] + '=x']);
  response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers }));
}).on('upgrade', (request, socket) => {
  socket.end('HTTP/1.1 101 Switching Protocols\\r\\nconnection: Upgrade\\r\\nupgrade: websocket\\r\\n\\r\\n');
}).listen(process.env.PORT, '127.0.0.1');`;

let service: TestRollouts;
let folder: string;
let apps: LocalApps;
let port: number;

interface Sent {
  readonly method?: string;
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request as a browser would, and answers what comes back. */
function ask(path: string, { method = 'GET', host = `my-agent.localhost:${port}`, headers = {} }: Sent = {}) {
  return new Promise<{ status?: number; headers: IncomingMessage['headers']; text: string }>((resolve, reject) => {
    const request = send({ host: '127.0.0.1', port, path, method, headers: { host, ...headers } });
    request.once('response', (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (more: string) => (text += more));
      answer.once('end', () => resolve({ status: answer.statusCode, headers: answer.headers, text }));
    });
    request.once('upgrade', (answer, socket) => {
      socket.destroy();
      resolve({ status: answer.statusCode, headers: answer.headers, text: '' });
    });
    request.once('error', reject);
    request.end();
  });
}

/** Starts a program of a deployment of this name. */
async function started(id: string, name: string, tenantId = TENANT): Promise<void> {
  writeFileSync(join(await apps.folders.of(id).emptyBuild('build'), 'server.js'), SERVER);
  const recipe = { folder: '.', start: 'exec node server.js', langgraph: false };
  const revision = { deploymentId: id, tenantId, name, revisionId: id, build: 'build', recipe };
  await apps.activate({ revision, secrets: new Map() }, new AbortController().signal);
}

const AGENT = '01980000-0000-7000-8000-000000000001';
const link = (id: string, headers = {}) =>
  ask(`/v2/deployments/${id}/browser-links`, {
    method: 'POST',
    host: `127.0.0.1:${port}`,
    headers: { 'x-api-key': 'key', ...headers },
  });
/** The cookie of a browser that has opened a link. */
async function visit(): Promise<string> {
  const { url } = JSON.parse((await link(AGENT)).text) as { url: string };
  const { status, headers } = await ask(url.slice(url.indexOf('/?')));
  expect([status, headers.location]).toEqual([303, '/']);
  return headers['set-cookie']![0]!.split(';')[0]!;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-pages-'));
  chmodSync(folder, 0o711);
  apps = new LocalApps(join(folder, 'apps'), {}, true);
  service = await TestRollouts.create();
  await service.start(new LocalExecutor(apps));
  port = Number(new URL(await service.listen()).port);
  await started(AGENT, 'My Agent');
});
afterAll(async () => {
  await service?.drop();
  rmSync(folder, { recursive: true, force: true });
});

it('a link, which works once, lets a browser see the pages of a deployment at a host of its own', async () => {
  const { status, text } = await link(AGENT);
  const { url } = JSON.parse(text) as { url: string };
  expect([status, url]).toEqual([201, expect.stringContaining(`http://my-agent.localhost:${port}/?fairlead-code=`)]);
  const opened = await ask(url.slice(url.indexOf('/?')));
  expect(opened.headers['set-cookie']).toEqual([
    expect.stringMatching(
      new RegExp(`^fairlead-app-${port}=[\\w-]{32}; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax$`),
    ),
  ]);
  expect((await ask(url.slice(url.indexOf('/?')))).status).toBe(401);
  const cookie = opened.headers['set-cookie']![0]!.split(';')[0]!;
  const page = await ask('/some/page?a=b', { headers: { cookie: `${cookie}; theirs=2`, authorization: 'Bearer own' } });
  const seen = JSON.parse(page.text);
  expect(seen).toMatchObject({
    method: 'GET',
    url: '/some/page?a=b',
    headers: { cookie: 'theirs=2', authorization: 'Bearer own' },
  });
  expect(page.headers).toMatchObject({ 'set-cookie': ['theirs=1; Path=/'], 'x-frame-options': 'DENY' });
  expect(page.headers).not.toHaveProperty('content-security-policy');
});

it('nobody else sees them, whatever key or cookie is sent, and nothing else is at that host', async () => {
  const cookie = await visit();
  const [name] = cookie.split('=');
  for (const headers of [{}, { 'x-api-key': 'key' }, { cookie: `${name}=${'x'.repeat(32)}` }] as Record<
    string,
    string
  >[]) {
    expect((await ask('/', { headers })).status).toBe(401);
  }
  expect((await ask('/', { host: `other.localhost:${port}`, headers: { cookie } })).status).toBe(401);
  const api = await ask(`/v2/deployments/${AGENT}/app_logs`, { headers: { cookie } });
  expect(JSON.parse(api.text)).toMatchObject({ url: `/v2/deployments/${AGENT}/app_logs` });
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, 'rebound.example']) {
    expect([host, (await ask('/app-pages/my-agent/', { host, headers: { cookie } })).status]).toEqual([host, 404]);
  }
  expect((await link(AGENT, { 'x-api-key': 'stranger' })).status).toBe(404);
});

it('pages of other sites can link to them, and send nothing else', async () => {
  const cookie = await visit();
  const own = { cookie, origin: `http://my-agent.localhost:${port}`, 'sec-fetch-site': 'same-origin' };
  const foreign = { cookie, origin: `http://evil.localhost:${port}`, 'sec-fetch-site': 'cross-site' };
  const socket = { connection: 'Upgrade', upgrade: 'websocket' };
  const followed = { cookie, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  const statuses = [
    await ask('/', { method: 'POST', headers: own }),
    await ask('/', { headers: { ...own, ...socket } }),
    await ask('/', { headers: followed }),
    await ask('/', { method: 'POST', headers: followed }),
    await ask('/', { method: 'POST', headers: foreign }),
    await ask('/', { headers: foreign }),
    await ask('/', { headers: { ...foreign, ...socket } }),
  ].map(({ status }) => status);
  expect(statuses).toEqual([200, 101, 200, 403, 403, 403, 403]);
});

it('are at no host when two deployments have the name of one', async () => {
  await started('01980000-0000-7000-8000-000000000002', 'Twin');
  await started('01980000-0000-7000-8000-000000000003', 'twin', STRANGER);
  expect((await link('01980000-0000-7000-8000-000000000002')).status).toBe(409);
});

it('are at no host when nothing of the name can be a part of an address, which has the id then', async () => {
  const id = '01980000-0000-7000-8000-000000000004';
  await started(id, 'エージェント');
  expect(apps.pathOf(TENANT, id)).toBe(`/apps/${id}`);
  expect((await link(id)).status).toBe(409);
});
