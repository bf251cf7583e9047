import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { until } from '@fairlead/postgres/testing';
import { hasEnded, Home, isRunning, killed, type Service } from '../testing/home';

let home: Home;

const start = (env?: Record<string, string>) => home.start(env);
const run = (env: Record<string, string>) => home.run(env);
const key = (data?: string) => home.key(data);
const postgresPid = (data: string) => home.postgresPid(data);

async function createDeployment(url: string, name: string, apiKey = key()): Promise<string> {
  const answer = await fetch(`${url}/v2/deployments`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({
      name,
      source: 'external_container',
      source_config: {},
      source_revision_config: { image_uri: 'registry.example/agent:1' },
      secrets: [],
    }),
  });
  const body = (await answer.json()) as { id: string };
  expect({ status: answer.status, body }).toMatchObject({ status: 201, body: { name } });
  return body.id;
}

async function readDeployment(
  url: string,
  id: string,
  apiKey = key(),
): Promise<{ status: number; retryAfter: string | null }> {
  const answer = await fetch(`${url}/v2/deployments/${id}`, { headers: { 'x-api-key': apiKey } });
  return { status: answer.status, retryAfter: answer.headers.get('retry-after') };
}

describe('The standalone service', () => {
  beforeEach(() => (home = new Home()));
  afterEach(() => home.end());

  it('ends everything at SIGTERM, and at signals that come twice, PostgreSQL included, and tells the key only once', async () => {
    const first = await start();
    const postgres = postgresPid('data');
    first.process.kill('SIGTERM');
    expect(await once(first.process, 'exit')).toEqual([0, null]);
    expect(isRunning(postgres)).toBe(false);
    const second = await start();
    expect(second.output()).not.toContain(key());
    const other = postgresPid('data');
    // npm and the terminal both pass a signal on: they are taken for one.
    second.process.kill('SIGINT');
    second.process.kill('SIGTERM');
    expect(await once(second.process, 'exit')).toEqual([0, null]);
    expect(isRunning(other)).toBe(false);
  });

  it('finishes a request that is under way when it is told to stop', async () => {
    const { url, process: service } = await start();
    const body = JSON.stringify({
      name: 'late',
      source: 'external_container',
      source_config: {},
      secrets: [],
      source_revision_config: { image_uri: 'registry.example/agent:1' },
    });
    const stream = new TransformStream<Uint8Array, Uint8Array>();
    const writer = stream.writable.getWriter();
    const answer = fetch(`${url}/v2/deployments`, {
      method: 'POST',
      headers: { 'x-api-key': key(), 'content-type': 'application/json' },
      body: stream.readable,
      duplex: 'half',
    });
    await writer.write(Buffer.from(body.slice(0, 20)));
    await until(async () => (await fetch(`${url}/health/live`)).ok);
    service.kill('SIGTERM');
    await until(() =>
      fetch(`${url}/health/live`).then(
        () => false,
        () => true,
      ),
    );
    await writer.write(Buffer.from(body.slice(20)));
    await writer.close();
    expect((await answer).status).toBe(201);
    expect(await once(service, 'exit')).toEqual([0, null]);
  });

  it('ends at once at another signal, PostgreSQL included', async () => {
    const { url, process: service, output } = await start();
    const postgres = postgresPid('data');
    const stream = new TransformStream<Uint8Array, Uint8Array>();
    const cut = fetch(`${url}/v2/deployments`, {
      method: 'POST',
      headers: { 'x-api-key': key(), 'content-type': 'application/json' },
      body: stream.readable,
      duplex: 'half',
    }).catch(() => 'cut');
    await stream.writable.getWriter().write(Buffer.from('{'));
    await until(async () => (await fetch(`${url}/health/live`)).ok);
    const exit = once(service, 'exit');
    await until(() => {
      service.kill('SIGINT');
      return hasEnded(service);
    });
    expect(output()).toContain('stopping');
    expect(await exit).toEqual([1, null]);
    expect(await cut).toBe('cut');
    await until(() => !isRunning(postgres));
  });

  it('accepts the key that it is given from the first start on', async () => {
    const apiKey = 'a-key-of-my-own-choosing';
    const { url, output } = await start({ FAIRLEAD_API_KEY: apiKey });
    await createDeployment(url, 'mine', apiKey);
    expect(output()).not.toContain(apiKey);
    expect(existsSync(join(home.path, 'data', 'api-key'))).toBe(false);
  });

  it('says in one line that the port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1').unref();
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    expect(await run({ PORT: String(port) })).toMatchObject({
      code: 1,
      output: '',
      errors: [expect.stringMatching(new RegExp(`^Port ${port} .* is taken .* set PORT`))],
    });
    other.close();
  });

  it('says in one line that the database cannot be reached', async () => {
    expect(await run({ DATABASE_URL: 'postgres://me:hidden@127.0.0.1:1/db' })).toMatchObject({
      code: 1,
      errors: [expect.stringMatching(/^The database at 127\.0\.0\.1:1\/db cannot be used .*DATABASE_URL/)],
    });
  });

  it.each([
    ['below a file', (path: string) => join(path, 'file', 'data')],
    ['below a directory in which nothing can be made', () => '/proc/fairlead/data'],
    ['in a directory in which nothing can be made', () => '/proc'],
  ])('says in one line that the data directory cannot be made: %s', async (_, directory) => {
    writeFileSync(join(home.path, 'file'), '');
    expect(await run({ FAIRLEAD_DATA_DIR: directory(home.path) })).toMatchObject({
      code: 1,
      output: '',
      errors: [expect.stringMatching(/^The data directory .* set FAIRLEAD_DATA_DIR/)],
    });
  });

  it('runs deployments of one workspace only where its executor does not keep workspaces apart', async () => {
    const addWorkspace = async (url: string) => {
      const answer = await fetch(`${url}/api/v1/workspaces`, {
        method: 'POST',
        headers: { 'x-api-key': key(), 'content-type': 'application/json' },
        body: '{"display_name":"second"}',
      });
      return { status: answer.status, body: await answer.json() };
    };
    const shared = { EXECUTOR: 'kubernetes', KUBERNETES_NAMESPACE: 'agents' };
    const kubernetes = await start(shared);
    expect(await addWorkspace(kubernetes.url)).toMatchObject({
      status: 409,
      body: { detail: expect.stringMatching(/^EXECUTOR=kubernetes .*one only\.$/) as string },
    });
    await killed(kubernetes.process);
    const separate = await start({ ...shared, KUBERNETES_NAMESPACE: 'agents-{workspace_id}' });
    expect(await addWorkspace(separate.url)).toMatchObject({ status: 200 });
    await killed(separate.process);
    expect(await run(shared)).toMatchObject({
      code: 1,
      errors: [expect.stringMatching(/^EXECUTOR=kubernetes .*one only, and there are 2\. Change these settings/)],
    });
  });

  it('lists every wrong setting at once and ends with 2', async () => {
    expect(await run({ PORT: 'x', HOSTING: 'y', FAIRLEAD_API_KEY: 'short' })).toMatchObject({
      code: 2,
      output: '',
      errors: [
        expect.stringMatching(/^PORT /),
        expect.stringMatching(/^FAIRLEAD_API_KEY /),
        expect.stringMatching(/^HOSTING /),
      ],
    });
  });
});

describe('A standalone service that runs', () => {
  let service: Service;
  beforeAll(async () => {
    home = new Home();
    service = await start();
  });
  afterAll(() => home.end());

  it('starts on an empty directory, says where it is and where the key is, and is ready', async () => {
    const { url, output } = service;
    const ready = await fetch(`${url}/health/ready`);
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready' }]);
    expect((await fetch(`${url}/health/live`)).status).toBe(200);
    expect(output()).toContain(`API key: ${key()}`);
    for (const name of ['api-key', 'master.key']) {
      expect(statSync(join(home.path, 'data', name)).mode & 0o777).toBe(0o600);
    }
    for (const command of output().match(/^ {2}curl .*$/gm) ?? []) {
      const curl = spawn('sh', ['-c', `${command} -f -o /dev/null`], { stdio: 'ignore' });
      expect(await once(curl, 'exit')).toEqual([0, null]);
    }
  });

  it('names the page that shows the API', async () => {
    const { url, output } = service;
    const page = /^The API, to read and to try out: (\S+)$/m.exec(output())?.[1];
    expect(page).toBe(`${url}/docs`);
    expect((await fetch(page!)).status).toBe(200);
  });

  it('answers 503 with Retry-After while PostgreSQL is gone, and brings it back by itself', async () => {
    const { url } = service;
    const id = await createDeployment(url, 'kept');
    const postgres = postgresPid('data');
    const seen = new Map<number, string | null>();
    process.kill(postgres, 'SIGKILL');
    await until(async () => {
      const { status, retryAfter } = await readDeployment(url, id);
      seen.set(status, retryAfter);
      return status === 200 && postgresPid('data') !== postgres;
    });
    for (const [status, retryAfter] of seen) {
      if (status === 200) continue;
      expect(status).toBe(503);
      expect(retryAfter).toMatch(/^\d+$/);
    }
    await until(async () => (await fetch(`${url}/health/ready`)).ok);
    expect((await readDeployment(url, id)).status).toBe(200);
  });

  it('runs twice side by side with two data directories', async () => {
    const [one, two] = [service, await start({ FAIRLEAD_DATA_DIR: home.data('other') })];
    const id = await createDeployment(one.url, 'mine');
    expect(await readDeployment(one.url, id)).toMatchObject({ status: 200 });
    expect(await readDeployment(two.url, id, key('other'))).toMatchObject({ status: 404 });
  });

  it('says in one line that the data directory is in use', async () => {
    expect(await run({})).toMatchObject({
      code: 1,
      errors: [
        expect.stringMatching(new RegExp(`is in use by fairlead process ${service.process.pid}: .*FAIRLEAD_DATA_DIR`)),
      ],
    });
  });
});
