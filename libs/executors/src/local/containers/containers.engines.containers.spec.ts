import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createPassage, type Socket } from 'node:net';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@fairlead/postgres/testing';
import { makeProgramLayer } from '../../testing/container.images';
import { ImageRegistry, type Layer } from '../../testing/image.registry';
import { TENANT, TestRollouts } from '@fairlead/rollouts/testing';
import { LocalApps } from '../local-apps';
import { Containers } from './containers.client';
import { EngineClient } from './engine.client';
import { LocalExecutor } from '../local-executor';

const engines = JSON.parse(process.env.FAIRLEAD_ENGINES ?? '[]') as { name: string; socket: string }[];
const TOKEN = 'sesame-open\nsecond line';
const CMD = ['/app/node', '/app/server.js'];

/** More than Docker has addresses of networks for; Podman, which starts them more slowly, has them for thousands. */
const MANY = { Docker: 35, Podman: 3 } as Readonly<Record<string, number>>;
/** True when the server can close networks to other users. */
const closes = process.getuid?.() === 0 && spawnSync('nft', ['list', 'tables']).status === 0;

const folder = mkdtempSync(join(tmpdir(), 'fairlead-engines-'));
const registry = new ImageRegistry();
/** Answers in the place of the server what it was asked. */
const server = createServer((request, response) => {
  request.resume().once('end', () => {
    response.writeHead(202).end(`${request.method} ${request.url} ${String(request.headers['x-api-key'])}`);
  });
});
let layer: Layer;

beforeAll(async () => {
  layer = makeProgramLayer(folder);
  await registry.start();
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  await registry.stop();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

describe.each(engines)('with $name', ({ name, socket }) => {
  const root = join(folder, name);
  const engine = new EngineClient(socket);
  let service: TestRollouts;
  let apps: LocalApps;

  beforeAll(async () => {
    service = await TestRollouts.create();
    await start();
  });
  afterAll(async () => {
    await service?.drop();
    await removeImages();
  });

  async function start(): Promise<void> {
    const limits = { restart: { first: 10, most: 1000 }, hold: 60_000, ready: 60_000, awake: 20, disk: 200e6 };
    apps = new LocalApps(root, limits, false, new Containers(root, [socket], false));
    const begin = apps.begin.bind(apps);
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const issue = () => ({ key: 'fp_key', revoke: () => undefined });
    apps.begin = (choose, _, tell) => begin(choose, async () => ({ address, project: 'agent', issue }), tell);
    await service.start(new LocalExecutor(apps));
  }

  async function removeImages(): Promise<void> {
    for (const { Id, RepoTags } of (await engine.call('GET', '/images/json')) as { Id: string; RepoTags: string[] }[]) {
      const isOurs = RepoTags?.some((tag) => tag.startsWith(registry.reference('')));
      if (isOurs) await engine.call('DELETE', `/images/${Id}?force=1`).catch(() => undefined);
    }
  }

  /** Pushes an image of the program; answers its name. */
  function image(version: string, config: object = {}, more: object = {}): string {
    const usual = { Cmd: CMD, Env: [`VERSION=${version}`], ExposedPorts: { '8123/tcp': {} } };
    registry.push('agent', version, layer, { ...usual, ...config }, more);
    return registry.reference(`agent:${version}`);
  }

  const deploy = (id: string, image_uri: string, more: object = {}) =>
    service.revision(id, { source: 'external_container', source_revision_config: { image_uri }, ...more });

  /** Status and log of a revision once it is deployed or has failed. */
  async function ended(id: string, revision: string): Promise<{ status: string; said: string }> {
    const statuses = await until(
      () => service.statuses(id, revision),
      (all) => /FAILED|DEPLOYED/.test(all.join()),
    );
    const log = async (phase: string) => (await service.logs(`${id}/revisions/${revision}/${phase}_logs`)).text;
    return { status: statuses.at(-1)!, said: `${await log('build')}\n${await log('deploy')}` };
  }

  /** Deploys an image; answers what its revision said. */
  async function deployed(id: string, image_uri: string, more: object = {}): Promise<string> {
    const revision_id = await deploy(id, image_uri, more);
    const { status, said } = await ended(id, revision_id);
    if (status !== 'DEPLOYED') throw new Error(`${status} ${said}`);
    return said;
  }

  /** A deployment of an image that is active. */
  async function running(image_uri: string, more: object = {}): Promise<string> {
    const id = await service.deployment({}, { TOKEN });
    await deployed(id, image_uri, more);
    return id;
  }

  const containers = async () => {
    const all = (await engine.call('GET', '/containers/json?all=1')) as { Labels: Record<string, string> }[];
    return all.map(({ Labels }) => Labels['fairlead.deployment']);
  };

  it('an image is pulled, started without rights, and stays when the next one does not start', async () => {
    const id = await service.deployment({}, { TOKEN });
    const said = await deployed(id, image('one'), { resource_spec: { memory_limit_mb: 256, cpu_limit: 0.5 } });
    expect(said).toContain(`Pulls ${registry.reference('agent:one')}.`);
    expect(said).toContain('Download complete');
    const answer = await service.call(id, '/');
    expect(answer).toMatchObject({ version: 'one', token: TOKEN, port: '8123', uid: 0 });
    expect(Object.keys(answer.env)).toContain('LANGCHAIN_REVISION_ID');
    expect(answer.status).toMatch(/NoNewPrivs:\t1/);
    for (const set of ['CapPrm', 'CapEff', 'CapBnd']) expect(answer.status).toMatch(new RegExp(`${set}:\t0+\n`));
    const { payload } = await until(
      () => service.ask('GET', `/v2/deployments/${id}/app_logs`),
      (logs) => logs.payload.includes('starts one'),
    );
    expect(payload).not.toContain('sesame-open');
    await until(
      async () => apps.runners.inspect(id)[0],
      (health) => (health?.memory_bytes ?? 0) > 0 && (health?.cpu_cores ?? null) !== null,
    );
    for (const [version, config, reason] of [
      ['broken', {}, 'no model for [redacted]'],
      ['empty', { Cmd: [] }, /No command specified|no command or entrypoint/],
      ['wrong', { Cmd: ['/nothing'] }, '/nothing'],
    ] as const) {
      const failed = await ended(id, await deploy(id, image(version, config)));
      expect(failed).toMatchObject({ status: 'DEPLOY_FAILED' });
      expect(failed.said).toMatch(reason);
    }
    const missing = await ended(id, await deploy(id, registry.reference('agent:missing')));
    expect(missing).toMatchObject({ status: 'BUILD_FAILED' });
    expect(missing.said).toContain('manifest unknown');
    expect(await service.call(id, '/')).toMatchObject({ version: 'one' });
  });

  it('images name their user, ports and checks, and a tag can be moved', async () => {
    const id = await running(image('user', { User: '1000', ExposedPorts: { '1/tcp': {}, '2/tcp': {} } }));
    expect(await service.call(id, '/')).toMatchObject({ version: 'user', uid: 1000, port: '8000' });
    const Healthcheck = { Test: ['CMD', '/nothing'], Interval: 1e9, Retries: 1 };
    await deployed(id, image('checked', { Healthcheck }));
    expect(await service.call(id, '/')).toMatchObject({ version: 'checked' });
    const digest = registry.push('agent', 'moved', layer, { Cmd: CMD, Env: ['VERSION=before'] });
    await deployed(id, registry.reference('agent:moved'));
    registry.push('agent', 'moved', layer, { Cmd: CMD, Env: ['VERSION=after'] });
    await deployed(id, registry.reference('agent:moved'));
    expect(await service.call(id, '/')).toMatchObject({ version: 'after' });
    await deployed(id, registry.reference(`agent@${digest}`));
    expect(await service.call(id, '/')).toMatchObject({ version: 'before' });
  });

  it('a container is started again when it ends or takes too much memory, stops, sleeps, and goes with its deployment', async () => {
    const id = await running(image('stubborn'), { resource_spec: { memory_limit_mb: 128 } });
    for (const [restarts, path, reason] of [
      [1, 'grow', 'more memory than its limit of 128 MB'],
      [2, 'crash', 'ended with exit code 3'],
    ] as const) {
      await service.ask('GET', `/apps/${id}/${path}`);
      const now = await until(
        async () => apps.runners.inspect(id)[0],
        (health) => health?.state === 'RUNNING' && health.restarts === restarts,
      );
      expect(now.last_error).toContain(reason);
    }
    // It ignores SIGTERM.
    await apps.stop(id);
    expect(await containers()).not.toContain(id);
    expect((await service.ask('GET', `/apps/${id}/`)).statusCode).toBe(503);
    await apps.start(id, new AbortController().signal);
    expect(await service.call(id, '/')).toMatchObject({ version: 'stubborn' });
    await service.append(id, [{ type: 'DeploymentDeletionRequested', data: {} } as never]);
    await until(
      () => service.hostStatuses(id),
      (statuses) => statuses.includes('REMOVED'),
    );
    expect(await containers()).not.toContain(id);
  });

  it('containers cannot be reached by other containers and users, and send runs', async () => {
    const one = await running(image('apart'));
    const two = await running(image('apart'));
    const { address, env } = await service.call(one, '/');
    const url = `http://${address}:8123/`;
    const got = async (id: string, path: string) => (await service.call(id, `/fetch/${encodeURIComponent(path)}`)).did;
    expect(await got(one, url)).toBe(200);
    expect(await got(two, url)).not.toBe(200);
    if (closes) {
      const seen = (uid: number, port?: number) => {
        const at = port === undefined ? url : `http://127.0.0.1:${port}/`;
        const look = `fetch('${at}').then(({ status }) => status, ({ cause }) => cause.code).then(console.log)`;
        const options = { uid, gid: uid, env: {}, cwd: '/', encoding: 'utf8' } as const;
        return execFileSync(process.execPath, ['-e', look], options).trim();
      };
      expect([seen(0), seen(65_534)]).toEqual(['200', 'ECONNREFUSED']);
      const { port, end } = await apps.runners.enter(one);
      end();
      expect([seen(0, port), seen(65_534, port)]).toEqual(['200', 'ECONNREFUSED']);
    }
    expect(env).toMatchObject({ LANGSMITH_PROJECT: 'agent', LANGSMITH_API_KEY: 'fp_key' });
    const sent = await service.call(one, '/trace');
    expect(sent.did).toBe('202 POST /runs fp_key');
    // Neither without a key of a program, nor from elsewhere.
    expect(await got(one, `${env.LANGSMITH_ENDPOINT}/runs`)).toBe(403);
    await expect(fetch(env.LANGSMITH_ENDPOINT)).rejects.toThrow('fetch failed');
    await apps.stop(one);
    await apps.stop(two);
    await expect(fetch(env.LANGSMITH_ENDPOINT)).rejects.toThrow('fetch failed');
  });

  it('an image that is too large is not pulled to its end, and nothing of it is kept', async () => {
    const id = await service.deployment({}, { TOKEN });
    const { status, said } = await ended(id, await deploy(id, image('huge', {}, { size: 300e6 })));
    expect(status).toBe('BUILD_FAILED');
    expect(said).toContain(`The image has more than ${apps.limits.disk} bytes`);
    const images = (await engine.call('GET', '/images/json')) as { RepoTags: string[] | null }[];
    expect(images.flatMap(({ RepoTags }) => RepoTags ?? [])).not.toContain(registry.reference('agent:huge'));
  });

  it('a container that writes too much is ended with a reason, and not started again for ever', async () => {
    const id = await running(image('full'));
    for (const [restarts, state] of [
      [1, 'RUNNING'],
      [2, 'RUNNING'],
      [2, 'FAILED'],
    ] as const) {
      await service.call(id, '/fill/250000000');
      await until(
        async () => apps.runners.inspect(id)[0],
        (now) => now?.restarts === restarts && now.state === state,
      );
    }
    expect(apps.runners.inspect(id)[0]!.last_error).toBe('The program wrote more files than its limit of 200 MB.');
    expect((await service.ask('GET', `/apps/${id}/`)).payload).toContain('wrote more files than its limit');
    await apps.restart(id, new AbortController().signal);
    expect(await service.call(id, '/')).toMatchObject({ version: 'full' });
  });

  it('what a container writes at its end is read to the end', async () => {
    const id = await running(image('shouting'));
    await service.ask('GET', `/apps/${id}/shout/9000`);
    // A second later, the server says how many lines it has dropped, when these were too many a second.
    await until(
      () => service.ask('GET', `/v2/deployments/${id}/app_logs?order=desc&limit=100`),
      ({ payload }) => payload.includes('It is started again') && /lines dropped|the last line/.test(payload),
    );
  });

  it('containers are available again as soon as their engine is', async () => {
    const path = join(folder, `${name}.sock`);
    const passing = new Set<Socket>();
    const before = createPassage((connection) => {
      const behind = connect(socket).on('error', () => connection.destroy());
      connection.pipe(behind).pipe(connection);
      connection.on('error', () => behind.destroy());
      for (const one of [connection, behind]) passing.add(one.once('close', () => passing.delete(one)));
    });
    await once(before.listen(path), 'listening');
    const own = new LocalApps(
      join(folder, `${name}-gone`),
      { hold: 3000 },
      false,
      new Containers(folder, [path], false),
    );
    const { Id } = (await engine.call('GET', `/images/${image('gone')}/json`).catch(async () => {
      await running(image('gone'));
      return engine.call('GET', `/images/${image('gone')}/json`);
    })) as { Id: string };
    const kind = name === 'Docker' ? 'docker' : 'podman';
    const recipe = { folder: '.', start: '', health: '/ok', langgraph: false };
    const revision = {
      ...{ deploymentId: 'gone', tenantId: TENANT, name: 'gone', revisionId: 'gone', build: Id, recipe },
      image: { id: Id, port: 8123, pulled: false, engine: kind } as const,
    };
    const chosen = { revision, secrets: new Map<string, string>() };
    own.begin(
      async () => chosen,
      async () => undefined,
      () => undefined,
    );
    try {
      await own.activate(chosen, new AbortController().signal);
      before.close();
      for (const one of passing) one.destroy();
      await until(() => own.runners.inspect('gone').length === 0);
      await expect(own.runners.enter('gone')).rejects.toThrow(`${name} does not answer.`);
      await once(before.listen(path), 'listening');
      const { port, end } = await until(() => own.runners.enter('gone').catch(() => undefined));
      expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
      end();
      expect((await containers()).filter((id) => id === 'gone')).toHaveLength(1);
    } finally {
      await own.end();
      before.close();
    }
  });

  (name === 'Podman' ? it : it.skip)(
    'the server starts Podman where none listens, and leaves nothing of it',
    async () => {
      const own = join(folder, 'started');
      const prefix = `fairlead-podman-${createHash('sha256').update(own).digest('hex').slice(0, 16)}-`;
      const folders = () => readdirSync(tmpdir()).filter((one) => one.startsWith(prefix));
      // As a killed server leaves it.
      mkdtempSync(join(tmpdir(), prefix));
      await running(image('started'));
      const { Id } = (await engine.call('GET', `/images/${registry.reference('agent:started')}/json`)) as {
        Id: string;
      };
      const containers = new Containers(own, [join(folder, 'none.sock')], true);
      const lines: string[] = [];
      const wanted = { deploymentId: 'started', revisionId: 'one', env: {}, port: 0 };
      const found = { id: Id, port: 8123, pulled: false, engine: 'podman' } as const;
      const container = await containers.start({ ...wanted, image: found }, (_, text) => lines.push(text));
      await until(() => lines.join('').includes('starts started'));
      expect(folders()).toHaveLength(1);
      await container.stop();
      await containers.end();
      expect(folders()).toEqual([]);
    },
  );

  it('more containers than Docker has networks run at a time', async () => {
    const own = new Containers(join(folder, `${name}-many`), [socket], false);
    await running(image('many'));
    const { Id } = (await engine.call('GET', `/images/${registry.reference('agent:many')}/json`)) as { Id: string };
    const wanted = { revisionId: 'many', image: { id: Id, port: 8123, pulled: false }, env: {}, port: 0 };
    const started = [];
    const networks = async () => {
      const all = (await engine.call('GET', '/networks')) as { Name: string }[];
      return all.map(({ Name }) => Name).sort();
    };
    const before = await networks();
    for (let count = 0; count < MANY[name]!; count++) {
      started.push(await own.start({ ...wanted, deploymentId: `many-${count}` }, () => undefined));
    }
    expect((await containers()).filter((id) => id?.startsWith('many-'))).toHaveLength(MANY[name]!);
    await Promise.all(started.map((one) => one.stop()));
    await own.end();
    expect((await containers()).filter((id) => id?.startsWith('many-'))).toEqual([]);
    expect(await networks()).toEqual(before);
  });

  it('containers are available again after a restart of the server, and those of a killed one are removed', async () => {
    const id = await running(image('kept'));
    const { image: kept } = apps.folders.of(id).kept()!.revisions[0]!;
    await service.stop();
    expect(await containers()).toEqual([]);
    const killed = new Containers(root, [socket], false);
    const other = new Containers(join(folder, `${name}-other`), [socket], false);
    const wanted = { deploymentId: id, revisionId: 'lost', image: kept!, env: { TOKEN }, port: 0 };
    const lost = await killed.start(wanted, () => undefined);
    const theirs = await other.start({ ...wanted, deploymentId: 'theirs' }, () => undefined);
    await start();
    expect(await service.call(id, '/')).toMatchObject({ version: 'kept' });
    await lost.ended;
    expect((await containers()).sort()).toEqual([id, 'theirs'].sort());
    await theirs.stop();
    await other.end();
  });
});
