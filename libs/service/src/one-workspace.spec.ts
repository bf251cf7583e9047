import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventStore } from '@fairlead/eventing';
import { type TestDatabase, testDatabase, until } from '@fairlead/postgres/testing';
import { appsProblem } from './apps/apps-folder';
import { withExecutor } from './one-workspace';
import { readSettings } from './settings/settings';
import { startByDefault, type Whole } from './testing';

/** The executor of a standalone installation that names none. */

const KEY = 'one-workspace-operator-key';
const WAIT_MS = 120_000;
/** The log of an installation that was never started. */
const EMPTY = {
  pool: { query: async () => ({ rows: [{ tenants: null }] }) },
  store: {} as EventStore,
} as unknown as Parameters<typeof withExecutor>[1];

let database: TestDatabase;
let folder: string;
let whole: Whole | undefined;

async function restart(env: Readonly<Record<string, string>> = {}): Promise<string> {
  await whole?.stop();
  whole = undefined;
  const own = { PORT: '0', DATABASE_URL: database.url, FAIRLEAD_DATA_DIR: folder, FAIRLEAD_API_KEY: KEY };
  whole = await startByDefault({ ...own, LOG_LEVEL: 'silent', ...env });
  return whole.executor;
}

async function send(method: string, path: string, body?: object) {
  const headers = { 'x-api-key': KEY, ...(body && { 'content-type': 'application/json' }) };
  const answer = await fetch(whole!.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await answer.text();
  return { status: answer.status, json: text.startsWith('{') ? JSON.parse(text) : text };
}

/** Creates a deployment of a program that answers `hello`, and waits until it is deployed. */
async function deployed(name: string): Promise<string> {
  const empty = { source: 'internal_source', source_config: {}, source_revision_config: {}, secrets: [] };
  const { id } = (await send('POST', '/v2/deployments', { name, ...empty })).json;
  const { upload_url, object_path } = (await send('POST', `/v2/deployments/${id}/upload-url`)).json;
  const from = mkdtempSync(join(folder, 'source-'));
  writeFileSync(join(from, 'Procfile'), 'web: node server.js\n');
  const server = `require('node:http').createServer((_, response) => response.end('hello')).listen(process.env.PORT, '127.0.0.1')`;
  writeFileSync(join(from, 'server.js'), server);
  const archive = execFileSync('tar', ['-cz', '-C', from, '.']);
  expect((await fetch(upload_url, { method: 'PUT', body: archive })).ok).toBe(true);
  const source_revision_config = { source_tarball_path: object_path };
  const { latest_revision_id } = (await send('PATCH', `/v2/deployments/${id}`, { source_revision_config })).json;
  await until(
    async () => (await send('GET', `/v2/deployments/${id}/revisions/${latest_revision_id}`)).json.status,
    (status) => status === 'DEPLOYED',
    WAIT_MS,
  );
  return id;
}

describe('A standalone installation that names no executor', () => {
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'fairlead-one-workspace-'));
    database = await testDatabase([]);
  });
  afterEach(async () => {
    await whole?.stop();
    whole = undefined;
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('runs deployments on this machine, and starts none that was only recorded', async () => {
    expect(await restart({ EXECUTOR: 'record' })).toBe('record');
    const recorded = await deployed('recorded');
    expect(await restart()).toBe('local');
    const health = async () => (await send('GET', `/v2/deployments/${recorded}/health`)).json;
    const before = await health();
    expect(before).toMatchObject({ state: 'RECORDED', executor: 'record', processes: [] });
    expect(await send('POST', `/v2/deployments/${recorded}/start`)).toMatchObject({
      status: 409,
      json: { detail: expect.stringContaining('nothing is run') as string },
    });
    // Whatever the restart begins for the first one is begun before the second one runs.
    const running = await deployed('running');
    expect(await send('GET', '/apps/running/')).toEqual({ status: 200, json: 'hello' });
    expect((await send('GET', '/apps/recorded/')).status).toBe(404);
    expect(await health()).toEqual(before);
    await send('DELETE', `/v2/deployments/${running}`);
    await until(
      async () => (await send('GET', `/v2/deployments/${running}`)).status,
      (status) => status === 404,
      WAIT_MS,
    );
  });

  it('has one workspace, and runs nothing where there are two', async () => {
    expect(await restart()).toBe('local');
    const add = () => send('POST', '/api/v1/workspaces', { display_name: 'Second' });
    expect(await add()).toMatchObject({
      status: 409,
      json: { detail: 'EXECUTOR=local does not keep workspaces apart on this machine, so that there can be one only.' },
    });
    await restart({ EXECUTOR: 'record' });
    expect((await add()).status).toBe(200);
    expect(await restart()).toBe('record');
    expect((await add()).status).toBe(200);
    await expect(restart({ EXECUTOR: 'local' })).rejects.toThrow(/^EXECUTOR=local .*, and there are 3\./);
  });
});

const nothing = () => undefined;
it.each([
  ['local', {}],
  ['local', { EXECUTOR: '', HOST: 'localhost' }],
  ['local', { HOST: '::1', DATABASE_URL: 'postgres://me@database/all' }],
  ['record', { EXECUTOR: 'record' }],
  ['command', { EXECUTOR: 'command' }],
  ['record', { HOST: '0.0.0.0' }],
  ['record', { HOST: '192.0.2.1' }],
  ['record', { PUBLIC_URL: 'https://fairlead.example' }],
  ['record', { TRUST_PROXY: 'loopback' }],
  ['record', { WEBHOOKS_URL: 'http://127.0.0.1:4601' }],
])('The executor on an empty database is %s with %j', async (executor, env) => {
  expect((await withExecutor(readSettings(env), EMPTY, nothing, nothing)).rollouts.executor).toBe(executor);
});

it('A standalone installation records deployments where they cannot run, and says why', async () => {
  const said: string[] = [];
  const settings = await withExecutor(
    readSettings({}),
    EMPTY,
    (warning) => said.push(warning),
    () => 'it is full',
  );
  expect(settings.rollouts.executor).toBe('record');
  expect(said).toEqual(['Deployments are recorded, and nothing is run: it is full.']);
});

const asRoot = process.getuid?.() === 0 ? it : it.skip;
asRoot('As root, deployments can run where files can be given to other users, who can reach Node.js', () => {
  const parent = mkdtempSync(join(tmpdir(), 'fairlead-apps-'));
  try {
    const node = join(parent, 'node');
    writeFileSync(node, '', { mode: 0o755 });
    expect(appsProblem(join(parent, 'apps'), node)).toMatch(/^other users cannot reach Node\.js, because .* is closed/);
    chmodSync(parent, 0o755);
    expect(appsProblem(join(parent, 'apps'), node)).toBeUndefined();
    expect(appsProblem(join(node, 'apps'), node)).toMatch(/cannot hold files of other users \(ENOTDIR\)$/);
  } finally {
    rmSync(parent, { recursive: true });
  }
});
