import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { streamName } from '@fairlead/eventing';
import { until } from '@fairlead/postgres/testing';
import { EngineDouble } from '../testing/engine.double';
import { TENANT, TestRollouts } from '../testing/service';
import { LocalApps } from './apps.service';
import { Containers } from './containers.service';
import { EngineClient } from './engine.client';
import { LocalExecutor } from './local.executor';

/** What the images run. */
const SERVER = `
const http = require('node:http'), fs = require('node:fs');
const { VERSION, TOKEN } = process.env;
if (VERSION === 'broken') throw new Error('no model for ' + TOKEN);
console.log('starts ' + VERSION + ' with ' + TOKEN);
process.on('SIGTERM', () => process.exit(0));
http.createServer((request, response) => {
  if (request.url === '/crash') process.exit(3);
  const status = fs.readFileSync('/proc/self/status', 'utf8');
  response.end(JSON.stringify({ version: VERSION, token: TOKEN, pid: process.pid, names: Object.keys(process.env), status }));
}).listen(process.env.PORT);
`;
const VERSIONS = ['one', 'two', 'broken'];
const imageOf = (version: string) => `localhost/agent:${version}`;
const TOKEN = 'sesame-open\nsecond line';

interface TestEngine {
  readonly socket: string;
  readonly containers: () => Promise<string[]>;
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
  return { socket, containers: async () => [...engine.containers.keys()], stop: () => engine.stop() };
}

const words = ['--root', join(folder, 'images'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs'];
const env = { PATH: process.env.PATH!, HOME: folder, CONTAINERS_CONF: join(folder, 'containers.conf') };

/** Makes images of the program with the Node.js of this machine. Answers why they cannot be run; empty when they can. */
function makeImages(): string {
  if (process.getuid?.() !== 0 || spawnSync('podman', ['--version']).status !== 0) return 'it takes root and Podman';
  const runtime = spawnSync('runc', ['--version']).status === 0 ? '[engine]\nruntime = "runc"\n' : '';
  writeFileSync(
    env.CONTAINERS_CONF,
    `[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n${runtime}`,
  );
  const root = join(folder, 'root');
  const libraries = spawnSync('ldd', [process.execPath], { encoding: 'utf8' }).stdout.match(/\/lib\S+/g) ?? [];
  for (const file of libraries) {
    mkdirSync(join(root, dirname(file)), { recursive: true });
    copyFileSync(realpathSync(file), join(root, file));
  }
  for (const name of ['app', 'tmp']) mkdirSync(join(root, name), { recursive: true });
  copyFileSync(process.execPath, join(root, 'app', 'node'));
  writeFileSync(join(root, 'app', 'server.js'), SERVER);
  const archive = join(folder, 'root.tar');
  execFileSync('tar', ['-cf', archive, '-C', root, '.']);
  for (const version of VERSIONS) {
    const changes = ['CMD ["/app/node","/app/server.js"]', `ENV VERSION=${version}`, 'USER 1000', 'EXPOSE 8123'];
    const change = changes.flatMap((one) => ['--change', one]);
    const made = spawnSync('podman', [...words, 'import', '--quiet', ...change, archive, imageOf(version)], { env });
    if (made.status !== 0) return 'Podman makes no images here';
  }
  rmSync(root, { recursive: true });
  rmSync(archive);
  const limits = ['--memory', '64m', '--pids-limit', '64', '--publish', '127.0.0.1::8123'];
  const tried = spawnSync('podman', [...words, 'run', '--rm', ...limits, imageOf('one'), '/app/node', '--version'], {
    env,
  });
  return tried.status === 0 ? '' : 'Podman runs no containers here';
}

async function podman(): Promise<TestEngine> {
  const socket = join(folder, 'podman.sock');
  const child = spawn('podman', [...words, 'system', 'service', '--time', '0', `unix://${socket}`], {
    env,
    stdio: 'ignore',
  });
  await until(() => new EngineClient(socket).answers());
  const list = () =>
    execFileSync('podman', [...words, 'ps', '--all', '--format', '{{.Names}}'], { env, encoding: 'utf8' });
  return {
    socket,
    containers: async () => list().split('\n').filter(Boolean),
    stop: async () => {
      execFileSync('podman', [...words, 'rm', '--all', '--force'], { env, stdio: 'ignore' });
      execFileSync('podman', [...words, 'network', 'prune', '--force'], { env, stdio: 'ignore' });
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill();
      await ended;
    },
  };
}

const missing = makeImages();
const skipped = missing === '' ? '' : ` (skipped: ${missing})`;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each([
  ['a stand-in for an engine', standIn, it],
  [`Podman${skipped}`, podman, skipped ? it.skip : it],
])('an image, with %s', (title, open, test) => {
  const isReal = title.startsWith('Podman');
  const root = join(folder, isReal ? 'real' : 'double');
  let engine: TestEngine;
  let service: TestRollouts;
  let apps: LocalApps;

  beforeAll(async () => {
    if (isReal && skipped) return;
    engine = await open();
    service = await TestRollouts.create();
    await start();
  });
  afterAll(async () => {
    await service?.drop();
    await engine?.stop();
  });

  async function start(): Promise<void> {
    const limits = { restart: { first: 10, most: 1000 }, hold: 60_000, ready: 60_000, awake: 20 };
    apps = new LocalApps(root, limits, false, new Containers(root, [engine.socket], false));
    await service.start(new LocalExecutor(apps));
  }

  const deploy = (id: string, version: string, more: object = {}) =>
    service.revision(id, {
      source: 'external_container',
      source_revision_config: { image_uri: imageOf(version) },
      ...more,
    });

  /** Waits until a revision is deployed, and makes it the active one. */
  async function deployed(id: string, revision_id: string): Promise<string[]> {
    const statuses = await until(
      () => service.statuses(id, revision_id),
      (all) => /FAILED|DEPLOYED/.test(all.join()),
    );
    const said = async (phase: string) => (await service.logs(`${id}/revisions/${revision_id}/${phase}_logs`)).text;
    if (!statuses.includes('DEPLOYED'))
      throw new Error(`${statuses.join()} ${await said('build')} ${await said('deploy')}`);
    const data = { revision_id, previous_revision_id: null, executor: 'local' };
    await service.store.append(streamName('deployment', id), 'any', [{ type: 'RevisionActivated', data }], {
      tenant: TENANT,
    });
    return statuses;
  }

  test('is pulled, started without rights, and stays when the next one does not start', async () => {
    const id = await service.deployment({}, { TOKEN });
    const first = await deploy(id, 'one', { resource_spec: { memory_limit_mb: 256, cpu_limit: 0.5 } });
    expect(await deployed(id, first)).toContain('BUILDING');
    expect((await service.logs(`${id}/revisions/${first}/build_logs`)).text).toContain(`Pulls ${imageOf('one')}.`);
    const answer = await service.call(id, '/');
    expect(answer).toMatchObject({ version: 'one', token: TOKEN });
    expect(answer.names).toEqual(expect.arrayContaining(['PORT', 'LANGCHAIN_REVISION_ID']));
    expect(answer.names).not.toContain('DATA_DIR');
    if (isReal) {
      expect(answer.status).toMatch(/NoNewPrivs:\t1/);
      for (const name of ['CapPrm', 'CapEff', 'CapBnd']) expect(answer.status).toMatch(new RegExp(`${name}:\t0+\n`));
    }
    const { payload } = await until(
      () => service.ask('GET', `/v2/deployments/${id}/app_logs`),
      (logs) => logs.payload.includes('starts one'),
    );
    expect(payload).not.toContain('sesame-open');
    await until(
      async () => apps.inspect(id)[0],
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
    expect(await service.call(id, '/')).toMatchObject({ version: 'two' });
  });

  test('is started again when it ends, stops, sleeps, and goes with its deployment', async () => {
    const id = await service.deployment({}, { TOKEN });
    const revision = await deploy(id, 'one');
    await deployed(id, revision);
    const [health] = apps.inspect(id);
    expect(health).toMatchObject({ state: 'RUNNING', revision_id: revision });
    await service.ask('GET', `/apps/${id}/crash`);
    await until(
      async () => apps.inspect(id)[0],
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

  test('is available again after a restart of the server, and what a killed one has left is removed', async () => {
    const id = await service.deployment({}, { TOKEN });
    await deployed(id, await deploy(id, 'one'));
    const found = apps.find(TENANT, id)!;
    const { image } = apps.folder(found).kept()!.revisions[0]!;
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
