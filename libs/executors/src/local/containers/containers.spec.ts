import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@fairlead/postgres/testing';
import { EngineDouble } from '../../testing/engine.double';
import { TENANT, TestRollouts } from '@fairlead/rollouts/testing';
import { LocalApps } from '../local-apps';
import { Containers } from './containers.client';
import { LocalExecutor } from '../local-executor';

/** Program of the images. */
const SERVER = `
const http = require('node:http');
const { VERSION, TOKEN } = process.env;
if (VERSION === 'broken') throw new Error('no model for ' + TOKEN);
console.log('starts ' + VERSION + ' with ' + TOKEN);
process.on('SIGTERM', () => process.exit(0));
http.createServer((request, response) => {
  if (request.url === '/crash') process.exit(3);
  response.end(JSON.stringify({ version: VERSION, token: TOKEN, pid: process.pid, names: Object.keys(process.env) }));
}).listen(process.env.PORT);
`;
const VERSIONS = ['one', 'two', 'broken'];
const imageOf = (version: string) => `localhost/agent:${version}`;
const TOKEN = 'sesame-open\nsecond line';

interface TestEngine {
  readonly socket: string;
  /** The requests to create containers. */
  readonly created: EngineDouble['created'];
  readonly containers: () => Promise<string[]>;
  readonly write: (bytes: number) => void;
  readonly stop: () => Promise<void>;
}

const folder = mkdtempSync(join(tmpdir(), 'fairlead-engine-'));
const nothing = () => undefined;

async function standIn(): Promise<TestEngine> {
  const socket = join(folder, 'double.sock');
  const engine = new EngineDouble(socket);
  writeFileSync(join(folder, 'server.js'), SERVER);
  for (const version of VERSIONS) {
    const words = [process.execPath, join(folder, 'server.js')];
    engine.images.set(imageOf(version), { Id: `sha256:${version}`, words, env: { VERSION: version } });
  }
  await engine.start();
  return {
    socket,
    created: engine.created,
    containers: async () => [...engine.containers.keys()],
    write: (bytes) => (engine.written = bytes),
    stop: () => engine.stop(),
  };
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('an image, with a stand-in for an engine', () => {
  const root = join(folder, 'double');
  let engine: TestEngine;
  let service: TestRollouts;
  let apps: LocalApps;

  beforeAll(async () => {
    engine = await standIn();
    service = await TestRollouts.create();
    await start();
  });
  afterAll(async () => {
    await service?.drop();
    await engine?.stop();
  });

  async function start(): Promise<void> {
    const limits = { restart: { first: 10, most: 1000 }, hold: 60_000, ready: 60_000, awake: 20, trial: 0 };
    apps = new LocalApps(root, limits, false, new Containers(root, [engine.socket], false));
    await service.start(new LocalExecutor(apps));
  }

  const deploy = (id: string, version: string, more: object = {}) =>
    service.revision(id, {
      source: 'external_container',
      source_revision_config: { image_uri: imageOf(version) },
      ...more,
    });

  /** Waits until a revision is deployed; fails with its log when it is not. */
  async function deployed(id: string, revision_id: string): Promise<string[]> {
    const statuses = await until(
      () => service.statuses(id, revision_id),
      (all) => /FAILED|DEPLOYED/.test(all.join()),
    );
    const said = async (phase: string) => (await service.logs(`${id}/revisions/${revision_id}/${phase}_logs`)).text;
    if (!statuses.includes('DEPLOYED'))
      throw new Error(`${statuses.join()} ${await said('build')} ${await said('deploy')}`);
    return statuses;
  }

  it('fails when it has written too much three times in a row, until somebody starts it', async () => {
    const id = await service.deployment({}, { TOKEN });
    await deployed(id, await deploy(id, 'one'));
    engine.write(apps.limits.disk + 1);
    const { reason } = await until(
      async () => apps.runners.inspect(id)[0]!,
      ({ state }) => state === 'FAILED',
    );
    expect(reason).toBe('The program wrote more files than its limit of 4295 MB.');
    engine.write(0);
    await apps.restart(id, new AbortController().signal);
    expect(apps.runners.inspect(id)).toMatchObject([{ state: 'RUNNING' }]);
  });

  it('is pulled, started without rights, and stays when the next one does not start', async () => {
    const id = await service.deployment({}, { TOKEN });
    const first = await deploy(id, 'one', { resource_spec: { memory_limit_mb: 256, cpu_limit: 0.5 } });
    expect(await deployed(id, first)).toContain('BUILDING');
    expect((await service.logs(`${id}/revisions/${first}/build_logs`)).text).toContain(`Pulls ${imageOf('one')}.`);
    const answer = await service.call(id, '/');
    expect(answer).toMatchObject({ version: 'one', token: TOKEN });
    expect(answer.names).toEqual(expect.arrayContaining(['PORT', 'LANGCHAIN_REVISION_ID']));
    expect(answer.names).not.toContain('DATA_DIR');
    const { payload } = await until(
      () => service.ask('GET', `/v2/deployments/${id}/app_logs`),
      (logs) => logs.payload.includes('starts one'),
    );
    expect(payload).not.toContain('sesame-open');
    await until(
      async () => apps.runners.inspect(id)[0],
      (health) => (health?.memory_bytes ?? 0) > 0,
    );
    const broken = await deploy(id, 'broken');
    await service.reached(id, broken, 'DEPLOY_FAILED');
    const { json } = await service.logs(`${id}/revisions/${broken}/deploy_logs`, { level: 'ERROR' });
    expect(json.logs[0].message).toMatch(/ended with exit code 1 before it was ready.*no model/);
    expect(json.logs[0].message).not.toContain('sesame-open');
    expect(await service.call(id, '/')).toMatchObject({ version: 'one' });
    const second = await deploy(id, 'two');
    await deployed(id, second);
    expect(await service.call(id, '/')).toMatchObject({ version: 'two' });
    const none = await deploy(id, 'three');
    await service.reached(id, none, 'BUILD_FAILED');
    const secret_references = [{ name: 'URL', secret_name: 'db', secret_key: 'url' }];
    const referring = await deploy(id, 'two', { secret_references });
    await service.reached(id, referring, 'DEPLOY_FAILED');
    expect((await service.logs(`${id}/revisions/${referring}/deploy_logs`)).text).toContain('secret_references are');
    expect(await service.call(id, '/')).toMatchObject({ version: 'two' });
    const helped = await deploy(id, 'two', { resource_spec: { sidecars: [{ name: 'a', image: 'b' }] } });
    await deployed(id, helped);
    const { text } = await service.logs(`${id}/revisions/${helped}/deploy_logs`);
    expect(text).toContain('sidecars has no effect on this machine.');
    expect(await service.call(id, '/')).toMatchObject({ version: 'two' });
  });

  it('is started again when it ends, stops, sleeps, and goes with its deployment', async () => {
    const id = await service.deployment({}, { TOKEN });
    const revision = await deploy(id, 'one');
    await deployed(id, revision);
    const [health] = apps.runners.inspect(id);
    expect(health).toMatchObject({ state: 'RUNNING', revision_id: revision });
    await service.ask('GET', `/apps/${id}/crash`);
    await until(
      async () => apps.runners.inspect(id)[0],
      (now) => now?.state === 'RUNNING' && now.restarts === 1,
    );
    expect(await service.call(id, '/')).toMatchObject({ version: 'one' });
    const before = await engine.containers();
    await apps.stop(id);
    expect(await engine.containers()).toHaveLength(before.length - 1);
    expect((await service.ask('GET', `/apps/${id}/`)).statusCode).toBe(503);
    await apps.start(id, new AbortController().signal);
    expect(await service.call(id, '/')).toMatchObject({ version: 'one' });
    await service.append(id, [{ type: 'DeploymentDeletionRequested', data: {} }]);
    await until(
      () => service.hostStatuses(id),
      (statuses) => statuses.includes('REMOVED'),
    );
    expect(await engine.containers()).toHaveLength(before.length - 1);
  });

  it('runs commands in containers of their own, which go with their clients', async () => {
    const id = await service.deployment({}, { TOKEN });
    await deployed(id, await deploy(id, 'one', { resource_spec: { memory_limit_mb: 256 } }));
    await apps.stop(id);
    const before = await engine.containers();
    const url = `${await service.listen()}/v2/deployments/${id}/commands`;
    const run = (script: string, signal?: AbortSignal) => {
      const headers = { 'x-api-key': 'key', 'content-type': 'application/json' };
      const body = JSON.stringify({ command: [process.execPath, '-e', script] });
      return fetch(url, { method: 'POST', headers, body, signal });
    };
    const script = `
      const { VERSION, TOKEN, PORT } = process.env;
      console.log(VERSION, TOKEN.split('\\n')[0], PORT);
      console.error('oh');
      process.exitCode = 4;`;
    const lines = (await (await run(script)).text()).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: 'started' }),
        { type: 'stdout', text: 'one [redacted] undefined\n' },
        { type: 'stderr', text: 'oh\n' },
        { type: 'ended', exit_code: 4, reason: null, duration_ms: expect.any(Number) },
      ]),
    );
    expect(engine.created.at(-1)).toMatchObject({
      Entrypoint: [process.execPath],
      Cmd: ['-e', script],
      HostConfig: { CapDrop: ['ALL'], Memory: 256e6 },
    });
    expect(engine.created.at(-1)!.HostConfig).not.toHaveProperty('PortBindings');
    expect(await engine.containers()).toEqual(before);
    const client = new AbortController();
    const response = await run("console.log('begun'); setInterval(() => {}, 1000)", client.signal);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (let seen = ''; !seen.includes('begun');) seen += (await reader.read()).value;
    expect(await engine.containers()).toHaveLength(before.length + 1);
    client.abort();
    await until(
      () => engine.containers(),
      ({ length }) => length === before.length,
    );
    const events = await until(
      () => service.store.read(`command-${id}`),
      (all) => all.length === 4,
    );
    expect(events.at(-1)!.data).toMatchObject({ exit_code: null, reason: 'The client closed the connection.' });
  });

  it('runs in as many containers as its sizes say', async () => {
    const before = (await engine.containers()).length;
    const counted = (count: number) =>
      until(
        () => engine.containers(),
        ({ length }) => length === before + count,
      );
    const id = await service.deployment({}, { TOKEN });
    await deployed(id, await deploy(id, 'one', { resource_spec: { min_scale: 2, memory_limit_mb: 256 } }));
    await counted(2);
    await service.ask('GET', `/apps/${id}/crash`);
    await until(
      () => apps.runners.inspect(id),
      (processes) =>
        processes.some(({ restarts }) => restarts === 1) && processes.every(({ state }) => state === 'RUNNING'),
    );
    await deployed(id, await deploy(id, 'two', { resource_spec: { min_scale: 2 } }));
    for (let count = 0; count < 2; count++) expect(await service.call(id, '/')).toMatchObject({ version: 'two' });
    await counted(2);
    await service.append(id, [{ type: 'DeploymentDeletionRequested', data: {} }]);
    await counted(0);
  });

  it('is available again after a restart of the server, and what a killed one has left is removed', async () => {
    const id = await service.deployment({}, { TOKEN });
    await deployed(id, await deploy(id, 'one'));
    const found = apps.kept.find(TENANT, id)!;
    const { image } = apps.folders.of(found).kept()!.revisions[0]!;
    await service.stop();
    expect(await engine.containers()).toEqual([]);
    const killed = new Containers(root, [engine.socket], false);
    const other = new Containers(join(folder, 'other'), [engine.socket], false);
    const wanted = { deploymentId: id, revisionId: 'lost', image: image!, env: { TOKEN } };
    const lost = await killed.start({ ...wanted, port: 0 }, nothing);
    const theirs = await other.start({ ...wanted, port: 0 }, nothing);
    expect(await engine.containers()).toHaveLength(2);
    await start();
    expect(await service.call(id, '/')).toMatchObject({ version: 'one' });
    await lost.ended;
    // It is another installation's.
    expect(await engine.containers()).toHaveLength(2);
    await theirs.stop();
  });
});

it('an image is not deployed where there is no engine, which is said', async () => {
  const service = await TestRollouts.create();
  const apps = new LocalApps(
    join(folder, 'none'),
    {},
    false,
    new Containers(folder, [join(folder, 'none.sock')], false),
  );
  await service.start(new LocalExecutor(apps));
  try {
    const id = await service.deployment();
    const source_revision_config = { image_uri: imageOf('one') };
    const revision = await service.revision(id, { source: 'internal_container', source_revision_config });
    await service.reached(id, revision, 'DEPLOY_FAILED');
    const { json } = await service.logs(`${id}/revisions/${revision}/deploy_logs`, { level: 'ERROR' });
    expect(json.logs[0].message).toBe('This machine has no container engine: neither Docker nor Podman answers.');
  } finally {
    await service.drop();
  }
});
