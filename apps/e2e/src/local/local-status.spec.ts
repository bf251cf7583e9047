import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@fairlead/postgres/testing';
import { Home, type Service } from '../testing/home';

/** Statuses of programs that do not behave as expected, told by a server of its own. */

const WAIT_MS = 120_000;
const GOOD = `require('node:http').createServer((_, response) => response.end('good')).listen(process.env.PORT);`;
/** Answers first, then finds that it was not built: what `next start` does without `next build`. */
const DIES = `require('node:http').createServer((_, response) => {
  response.end('bad');
  setTimeout(() => { console.error('Error: no production build'); process.exit(1); }, 1000);
}).listen(process.env.PORT);`;

let home: Home;
let service: Service;

beforeAll(async () => {
  home = new Home();
  service = await home.start({ EXECUTOR: 'local' });
}, WAIT_MS);
afterAll(() => home.end());

async function send(method: string, path: string, body?: object) {
  const answer = await fetch(service.url + path, {
    method,
    headers: { 'x-api-key': home.key(), ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, text, json: () => JSON.parse(text) };
}

async function ask(method: string, path: string, body?: object) {
  const answer = await send(method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.json();
}

async function create(name: string): Promise<string> {
  const body = { name, source: 'internal_source', source_config: {}, source_revision_config: {}, secrets: [] };
  return (await ask('POST', '/v2/deployments', body)).id;
}

/** Uploads a program; resolves to its revision. */
async function upload(id: string, program: string): Promise<string> {
  const from = mkdtempSync(join(tmpdir(), 'fairlead-status-'));
  writeFileSync(join(from, 'Procfile'), 'web: node server.js\n');
  writeFileSync(join(from, 'server.js'), program);
  const { upload_url, object_path } = await ask('POST', `/v2/deployments/${id}/upload-url`);
  const body = execFileSync('tar', ['-cz', '-C', from, '.']);
  rmSync(from, { recursive: true });
  expect((await fetch(upload_url, { method: 'PUT', body })).ok).toBe(true);
  const source_revision_config = { source_tarball_path: object_path };
  return (await ask('PATCH', `/v2/deployments/${id}`, { source_revision_config })).latest_revision_id;
}

const ended = (id: string, revision: string): Promise<string> =>
  until(
    async () => (await ask('GET', `/v2/deployments/${id}/revisions/${revision}`)).status as string,
    (now) => /DEPLOYED|FAILED/.test(now),
    WAIT_MS,
  );
const health = (id: string) => ask('GET', `/v2/deployments/${id}/health`);
const entries = async (id: string) => (await ask('GET', `/v2/deployments/${id}/history?limit=100`)).resources;

it('a program that ends soon after it was deployed gives its place back to the one before, which is said', async () => {
  const id = await create('taken-back');
  const good = await upload(id, GOOD);
  expect(await ended(id, good)).toBe('DEPLOYED');
  const bad = await upload(id, DIES);
  expect(await ended(id, bad)).toBe('DEPLOYED');
  const { active_revision_id } = await until(
    () => ask('GET', `/v2/deployments/${id}`),
    (one) => one.active_revision_id === good && one.latest_revision_id === bad,
    WAIT_MS,
  );
  expect(active_revision_id).toBe(good);
  expect((await send('GET', '/apps/taken-back/')).text).toBe('good');
  expect(await ended(id, bad)).toBe('DEPLOYED');
  const why = 'after it was deployed, last line: Error: no production build';
  expect(await health(id)).toMatchObject({
    state: 'RUNNING',
    detail: expect.stringContaining(why),
    active_revision_id: good,
    latest_revision: { id: bad, status: 'DEPLOYED', reason: expect.stringContaining(why) },
  });
  const [newest] = (await entries(id)).filter(({ type }: { type: string }) => type === 'RevisionActivated');
  expect(newest).toMatchObject({ reason: expect.stringContaining(why) });
  // It can be controlled and deployed as before.
  await ask('POST', `/v2/deployments/${id}/restart`);
  expect(await ended(id, await upload(id, GOOD))).toBe('DEPLOYED');
  expect((await health(id)).detail).not.toContain('taken back');
});

it('a crash loop is one state, with one event', async () => {
  const id = await create('crash-loop');
  const revision = await upload(id, DIES);
  expect(await ended(id, revision)).toBe('DEPLOYED');
  const { detail } = await until(
    () => health(id),
    ({ state }) => state === 'CRASH_LOOPING',
    WAIT_MS,
  );
  expect(detail).toMatch(/^Crash looping, \d+ restarts, last line: Error: no production build$/);
  await until(
    () => ask('GET', `/v2/deployments/${id}`),
    ({ status }) => status === 'UNKNOWN',
    WAIT_MS,
  );
  const { length } = await entries(id);
  await until(
    () => health(id),
    (now) => Number(/(\d+) restarts/.exec(now.detail)?.[1]) >= 5,
    WAIT_MS,
  );
  expect(await entries(id)).toHaveLength(length);
  expect(await ask('GET', `/v2/deployments/${id}`)).toMatchObject({
    status: 'UNKNOWN',
    crash_looping: true,
    status_reason: expect.stringMatching(/^Crash looping, 3 restarts/),
  });
});

it('a program that starts is STARTING, with what it waits for', async () => {
  const id = await create('late');
  expect(await health(id)).toMatchObject({ state: 'NOT_DEPLOYED' });
  const revision = await upload(id, `setTimeout(() => { ${GOOD} }, 10_000);`);
  const { detail } = await until(
    () => health(id),
    ({ detail, state }) => state === 'STARTING' && detail.includes('PORT'),
    WAIT_MS,
  );
  expect(detail).toContain('It is waited until the program listens at the port that PORT names.');
  expect(await ended(id, revision)).toBe('DEPLOYED');
  expect(await health(id)).toMatchObject({ state: 'RUNNING' });
});

it('names that spell alike are told when one is created, and an address does not go over to another one', async () => {
  const create = (name: string) =>
    fetch(`${service.url}/v2/deployments`, {
      method: 'POST',
      headers: { 'x-api-key': home.key(), 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ name, source: 'internal_source', source_config: {}, source_revision_config: {}, secrets: [] },
      }),
    });
  const first = await create('Support Agent');
  expect(first.headers.get('warning')).toBeNull();
  const { id } = JSON.parse(await first.text());
  const { text } = await until(
    () => send('GET', '/apps/support-agent/'),
    ({ text }) => text.includes('has not run'),
    WAIT_MS,
  );
  expect(text).toContain("App 'support-agent' not found. The deployment 'Support Agent' has not run here yet.");
  expect(await ended(id, await upload(id, GOOD))).toBe('DEPLOYED');
  const second = await create('support agent');
  const { id: other } = JSON.parse(await second.text());
  expect(second.headers.get('warning')).toContain(
    `The name 'support agent' spells the address /apps/support-agent, as 'Support Agent' does, which has it: this deployment is reached at /apps/${other}.`,
  );
  expect(await ended(other, await upload(other, DIES.replace('bad', 'other')))).toBe('DEPLOYED');
  expect((await send('GET', '/apps/support-agent/')).text).toBe('good');
  await send('DELETE', `/v2/deployments/${id}`);
  const gone = await until(
    () => send('GET', '/apps/support-agent/'),
    ({ status, text }) => status === 404 && text.includes('is reached'),
    WAIT_MS,
  );
  expect(gone.text).toContain(`The deployment 'support agent' is reached at /apps/${other}`);
});
