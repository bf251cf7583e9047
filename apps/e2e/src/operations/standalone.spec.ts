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

const NEW_AGENT = {
  source: 'external_container',
  source_config: {},
  source_revision_config: { image_uri: 'registry.example/agent:1' },
  secrets: [],
};

async function createDeployment(url: string, name: string, apiKey = key()): Promise<string> {
  const answer = await fetch(`${url}/v2/deployments`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ name, ...NEW_AGENT }),
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

/** A request whose body has not arrived yet, which the service has begun to read. */
async function begun({ url }: Service, beginning: string) {
  const stream = new TransformStream<Uint8Array, Uint8Array>();
  const writer = stream.writable.getWriter();
  const answer = fetch(`${url}/v2/deployments`, {
    method: 'POST',
    headers: { 'x-api-key': key(), 'content-type': 'application/json' },
    body: stream.readable,
    duplex: 'half',
  });
  answer.catch(() => undefined);
  await writer.write(Buffer.from(beginning));
  await until(async () => (await fetch(`${url}/health/live`)).ok);
  return { writer, answer };
}

describe('The standalone service', () => {
  beforeEach(() => (home = new Home()));
  afterEach(() => home.end());

  it('finishes a request at SIGTERM, takes signals that come twice for one, and ends at once at a later one, PostgreSQL included', async () => {
    const first = await start();
    expect(first.output()).toContain(key());
    const postgres = postgresPid('data');
    const body = JSON.stringify({ name: 'late', ...NEW_AGENT });
    const late = await begun(first, body.slice(0, 20));
    first.process.kill('SIGTERM');
    await until(() =>
      fetch(`${first.url}/health/live`).then(
        () => false,
        () => true,
      ),
    );
    await late.writer.write(Buffer.from(body.slice(20)));
    await late.writer.close();
    expect((await late.answer).status).toBe(201);
    expect(await once(first.process, 'exit')).toEqual([0, null]);
    expect(isRunning(postgres)).toBe(false);

    const second = await start();
    // It was told once.
    expect(second.output()).not.toContain(key());
    const other = postgresPid('data');
    // npm and the terminal both pass a signal on: they are taken for one.
    second.process.kill('SIGINT');
    second.process.kill('SIGTERM');
    expect(await once(second.process, 'exit')).toEqual([0, null]);
    expect(isRunning(other)).toBe(false);

    const third = await start();
    const last = postgresPid('data');
    const cut = await begun(third, '{');
    const exit = once(third.process, 'exit');
    await until(() => {
      third.process.kill('SIGINT');
      return hasEnded(third.process);
    });
    expect(third.output()).toContain('stopping');
    expect(await exit).toEqual([1, null]);
    await expect(cut.answer).rejects.toThrow();
    await until(() => !isRunning(last));
  });

  it('says in one line what keeps it from starting, whatever that is', async () => {
    const other = createServer().listen(0, '127.0.0.1').unref();
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    writeFileSync(join(home.path, 'file'), '');
    const says = (pattern: RegExp) => [expect.stringMatching(pattern)] as unknown;
    const directory = says(/^The data directory .* set FAIRLEAD_DATA_DIR/);
    const ends: [Record<string, string>, object][] = [
      [
        { PORT: String(port), FAIRLEAD_DATA_DIR: home.data('port') },
        { code: 1, output: '', errors: says(new RegExp(`^Port ${port} .* is taken .* set PORT`)) },
      ],
      [
        { DATABASE_URL: 'postgres://me:hidden@127.0.0.1:1/db', FAIRLEAD_DATA_DIR: home.data('database') },
        { code: 1, errors: says(/^The database at 127\.0\.0\.1:1\/db cannot be used .*DATABASE_URL/) },
      ],
      // Below a file, below a directory in which nothing can be made, and in one.
      ...[join(home.path, 'file', 'data'), '/proc/fairlead/data', '/proc'].map(
        (path): [Record<string, string>, object] => [
          { FAIRLEAD_DATA_DIR: path },
          { code: 1, output: '', errors: directory },
        ],
      ),
      // Every wrong setting at once.
      [
        { PORT: 'x', HOSTING: 'y', FAIRLEAD_API_KEY: 'short' },
        { code: 2, output: '', errors: [/^PORT /, /^FAIRLEAD_API_KEY /, /^HOSTING /].flatMap(says) },
      ],
    ];
    const ended = await Promise.all(ends.map(([env]) => run(env)));
    expect(ended).toMatchObject(ends.map(([, end]) => end));
    other.close();
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

  it('runs twice side by side with two data directories, and accepts the key that it is given from the first start on', async () => {
    const apiKey = 'a-key-of-my-own-choosing';
    const two = await start({ FAIRLEAD_DATA_DIR: home.data('other'), FAIRLEAD_API_KEY: apiKey });
    expect(two.output()).not.toContain(apiKey);
    expect(existsSync(join(home.data('other'), 'api-key'))).toBe(false);
    const id = await createDeployment(service.url, 'mine');
    expect(await readDeployment(service.url, id)).toMatchObject({ status: 200 });
    expect(await readDeployment(two.url, id, apiKey)).toMatchObject({ status: 404 });
    expect(await readDeployment(two.url, await createDeployment(two.url, 'mine', apiKey), apiKey)).toMatchObject({
      status: 200,
    });
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
