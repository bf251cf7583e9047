import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { hasEnded, Home, isRunning, type Service, until } from '@fairlead/e2e/testing';

/** `npm run cluster`, as it is run: every service as processes of its own, two of each. */

const NAMES = ['deployments', 'integrations', 'auth-providers', 'experiments', 'rollouts', 'webhooks', 'gateway'];

let home: Home;
let cluster: Service;

beforeAll(async () => {
  home = new Home('cluster', ['--no-kafka', '--replicas', '2']);
  cluster = await home.start({ LOG_LEVEL: 'info' });
}, 900_000);
afterAll(() => home.end());

/** The processes of the cluster that run now, by what they run. */
async function processes(): Promise<Map<string, number[]>> {
  const listed = await new Promise<string>((resolve) => {
    execFile('ps', ['-o', 'pid=,args=', '--ppid', String(cluster.process.pid)], (_, output) => resolve(output));
  });
  const found = new Map<string, number[]>();
  for (const [, pid, name] of listed.matchAll(/^ *(\d+) .*\/apps\/([\w-]+)\/(?:src|dist)\/main\.[jt]s.*$/gm)) {
    found.set(name!, [...(found.get(name!) ?? []), Number(pid)]);
  }
  return found;
}

function request(path: string, method = 'GET', body?: object): Promise<Response> {
  return fetch(cluster.url + path, {
    method,
    headers: { 'x-api-key': home.key(), 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
}

/** Reads as clients do: what does not show yet what was written is answered 503, and asked again when that says so. */
async function read(path: string): Promise<Response> {
  for (;;) {
    const answer = await request(path);
    if (answer.status !== 503) return answer;
    await answer.arrayBuffer();
    await delay(Number(answer.headers.get('retry-after')) * 1000);
  }
}

const deployment = (name: string) => ({
  name,
  source: 'external_container',
  source_config: {},
  source_revision_config: { image_uri: 'registry.example/agent:1' },
  secrets: [],
});

it('runs two processes of each, whose lines say who wrote them', async () => {
  const running = await processes();
  expect(Object.fromEntries([...running].map(([name, pids]) => [name, pids.length]))).toEqual(
    Object.fromEntries(NAMES.map((name) => [name, 2])),
  );
  const made = await request('/v2/deployments', 'POST', deployment('told'));
  expect(made.status).toBe(201);
  const id = made.headers.get('x-request-id')!;
  const lines = () =>
    cluster
      .output()
      .split('\n')
      .filter((line) => line.includes(id));
  const wanted = ['deployments', 'gateway'].map(
    (name) =>
      new RegExp(String.raw`^${name}\.[12] +\| \d\d:\d\d:\d\d\.\d{3} info +POST /v2/deployments 201 [\d.]+ ms `),
  );
  await until(lines, (all) => wanted.every((one) => all.some((line) => one.test(line))));
  expect(lines()).toHaveLength(2);
});

it('shows every client what it has written, whichever process answers', async () => {
  const missing: string[] = [];
  const client = async (number: number) => {
    for (let round = 0; round < 8; round++) {
      const name = `own ${number}, ${round}`;
      const made = await request('/v2/deployments', 'POST', deployment(name));
      const { id } = (await made.json()) as { id: string };
      const one = await read(`/v2/deployments/${id}`);
      const list = await read(`/v2/deployments?name_contains=${encodeURIComponent(name)}`);
      const listed = (await list.json()) as { resources: { id: string }[] };
      if (made.status !== 201 || one.status !== 200 || !listed.resources.some((found) => found.id === id))
        missing.push(`${name}: ${made.status} ${one.status} ${JSON.stringify(listed)}`);
    }
  };
  await Promise.all(Array.from({ length: 10 }, (_, number) => client(number)));
  expect(missing).toEqual([]);
});

it('does not start where it cannot, and says why in words', async () => {
  const second = new Home('cluster', ['--no-kafka']);
  const { code, output, errors } = await second.run({ PORT: new URL(cluster.url).port });
  await second.end();
  expect(code).toBe(1);
  expect(output).toMatch(/^gateway\.\d +\| Port \d+ of 127\.0\.0\.1 is taken by another program/m);
  expect(errors).toEqual([
    expect.stringMatching(/^gateway\.\d ended before it was ready; what it wrote above says why\.$/),
  ]);
}, 900_000);

it('starts a process again that is killed, and the others answer meanwhile', async () => {
  const [victim] = (await processes()).get('deployments')!;
  process.kill(victim!, 'SIGKILL');
  const answers = new Set<number>();
  await until(async () => {
    answers.add((await request('/v2/deployments')).status);
    const { deployments = [] } = Object.fromEntries(await processes());
    return deployments.length === 2 && !deployments.includes(victim!);
  });
  expect(answers).toEqual(new Set([200]));
  const said = /^deployments\.[12] +\| It ended \(SIGKILL\) and is started again\.$/m;
  await until(
    () => cluster.output(),
    (output) => said.test(output),
  );
});

it('replaces every process, of each service one at a time, and fails no request', async () => {
  const before = [...(await processes()).values()].flat();
  const failures: string[] = [];
  let [asked, replaced] = [0, false];
  const client = async (number: number) => {
    for (let n = 0; !replaced; n++) {
      const write = n % 3 === 0;
      const answer = write
        ? await request('/v2/deployments', 'POST', deployment(`client ${number}, ${n}`))
        : await request(n % 3 === 1 ? '/v2/deployments?limit=1' : '/api/v1/sessions?limit=1');
      if (!answer.ok) failures.push(`${answer.status} ${await answer.text()}`);
      else await answer.arrayBuffer();
      asked++;
      await delay(150);
    }
  };
  const clients = [1, 2, 3].map(client);
  cluster.process.kill('SIGHUP');
  const look = () => {
    if (hasEnded(cluster.process)) throw new Error(cluster.errors());
    return cluster.output().slice(-4000);
  };
  await until(look, (output) => /has been replaced|are left as they are/.test(output), 840_000);
  replaced = true;
  await Promise.all(clients);
  expect(failures).toEqual([]);
  expect(asked).toBeGreaterThan(100);
  expect(cluster.output()).toContain('Every process has been replaced.');
  const after = [...(await processes()).values()].flat();
  expect(after).toHaveLength(before.length);
  expect(after.filter((pid) => before.includes(pid))).toEqual([]);
}, 900_000);

it('ends everything at SIGTERM, PostgreSQL included', async () => {
  const all = [...(await processes()).values()].flat();
  const postgres = home.postgresPid();
  expect([...all, postgres].filter((pid) => !isRunning(pid))).toEqual([]);
  cluster.process.kill('SIGTERM');
  await until(() => hasEnded(cluster.process));
  expect(cluster.process.exitCode).toBe(0);
  expect([...all, postgres].filter(isRunning)).toEqual([]);
});
