import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { until } from '@fairlead/postgres/testing';
import fastify, { type FastifyInstance } from 'fastify';
import { Traffic } from '../../testing/traffic';
import { AppForwarding } from '../forwarding/app-forwarding.service';
import type { StartedRevision } from '../isolation/app-folders.store';
import { LocalApps } from '../local-apps';

/** Programs with several processes, and requests to them through the server. */

/**
 * A server that answers its name and the port of its process: no two have the same one, whereas their ids may be alike
 * where each has process ids of its own.
 */
const server = (name: string) => `
const fs = require('node:fs'), folder = process.env.DATA_DIR + '/';
if (fs.existsSync(folder + 'broken')) throw new Error('the data is broken');
if ('${name}' === 'single') fs.mkdirSync(folder + 'lock');
const server = require('node:http').createServer((request, response) => {
  if (request.url === '/crash') process.exit(3);
  if (request.url === '/kill') process.kill(process.pid, 'SIGKILL');
  // It runs on, but takes no more connections.
  if (request.url === '/close') setInterval(() => undefined, 1000) && server.close();
  request.resume().once('end', () => setImmediate(() => response.end(JSON.stringify({ name: '${name}', port: process.env.PORT }))));
}).listen(process.env.PORT, '127.0.0.1');`;

let folder: string;
let apps: LocalApps;
let gate: FastifyInstance;
let url: string;
/** Revision that is to run now, by the id of its deployment. */
let active: Map<string, { revision: StartedRevision; min_scale: number }>;
let told: string[];
let traffics: Traffic[];

async function begin(awake = 20, hold = 60_000): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-replicas-'));
  chmodSync(folder, 0o711);
  active = new Map();
  told = [];
  traffics = [];
  apps = new LocalApps(join(folder, 'apps'), { awake, hold, restart: { first: 10, most: 200 }, trial: 0 });
  const chosen = ({ revision, min_scale }: { revision: StartedRevision; min_scale: number }) => {
    return { revision, secrets: new Map<string, string>(), sizes: min_scale > 1 ? { min_scale } : {} };
  };
  apps.begin(
    async ([kept]) => {
      const found = active.get(kept?.deploymentId ?? '');
      return found && chosen(found);
    },
    async () => undefined,
    (id, status) => void told.push(`${id} ${status}`),
  );
  const forwarding = new AppForwarding(apps);
  gate = fastify();
  gate.removeAllContentTypeParsers();
  gate.addContentTypeParser('*', (_request, _body, done) => done(null));
  gate.all('/apps/:id/*', (request, reply) => {
    const { id } = request.params as { id: string };
    return forwarding.pass(request, reply, { id, tenantId: 'tenant' }, 'api');
  });
  await gate.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(gate.server.address() as AddressInfo).port}`;
}
afterEach(async () => {
  await Promise.all(traffics.map((traffic) => traffic.stop()));
  gate.server.closeAllConnections();
  await gate.close();
  await apps.end();
  rmSync(folder, { recursive: true, force: true });
});

/** Deploys a program with so many processes. */
async function deploy(name: string, min_scale: number, id = 'one'): Promise<void> {
  const build = `${id}-${name}`;
  writeFileSync(join(await apps.folders.of(id).emptyBuild(build), 'server.js'), server(name));
  const recipe = { folder: '.', start: 'exec node server.js', langgraph: false };
  const revision = { deploymentId: id, tenantId: 'tenant', name: id, revisionId: build, build, recipe };
  const secrets = new Map<string, string>();
  await apps.activate({ revision, secrets, sizes: min_scale > 1 ? { min_scale } : {} }, new AbortController().signal);
  active.set(id, { revision, min_scale });
}

/** Sends requests until the test has ended, or ends them. */
function send(): Traffic {
  const traffic = new Traffic(`${url}/apps/one/`);
  traffics.push(traffic);
  return traffic;
}

const restart = () => apps.restart('one', new AbortController().signal);

async function ask(path = '/', id = 'one'): Promise<{ status: number; name?: string; port?: string; text: string }> {
  const response = await fetch(`${url}/apps/${id}${path}`);
  const text = await response.text();
  return { status: response.status, text, ...(response.status === 200 && JSON.parse(text)) };
}

/** Sends requests until so many processes have answered one; answers their ports. */
async function portsOf(count: number): Promise<Set<string>> {
  const found = new Set<string>();
  return until(
    async () => found.add((await ask()).port!),
    ({ size }) => size === count,
  );
}

const states = (id = 'one') => apps.runners.inspect(id).map(({ state }) => state);
const running = (count: number, id = 'one') =>
  until(
    () => states(id),
    (seen) => seen.length === count && seen.every((state) => state === 'RUNNING'),
  );
const named = (answers: readonly string[]) => answers.map((answer) => /^200 .*"name":"(\w+)"/.exec(answer)?.[1]);

/**
 * Asks for a process all the time until something is done. A request that has to wait for anything, such as a start, gets
 * none before the next turn of the event loop. Answers how many had to wait.
 */
async function heldDuring(work: Promise<void>): Promise<number> {
  let held = 0;
  let isOver = false;
  const done = work.finally(() => (isOver = true));
  do {
    const entering = apps.runners.enter('one');
    const isHeld = await Promise.race([entering.then(() => false), turn(true)]);
    if (isHeld) held++;
    (await entering).end();
    await delay(5);
  } while (!isOver);
  await done;
  return held;
}

it('no request fails or waits while two processes take the place of others, in a deploy and in a restart', async () => {
  await begin();
  await deploy('old', 2);
  expect(apps.runners.inspect('one')).toMatchObject([{ name: 'program-1' }, { name: 'program-2' }]);
  const ports: number[] = [];
  for (let count = 0; count < 4; count++) {
    const { port, end } = await apps.runners.enter('one');
    ports.push(port);
    end();
  }
  // In turn.
  expect(ports).toEqual([ports[0], ports[1], ports[0], ports[1]]);
  const [one, other, third] = [
    await apps.runners.enter('one'),
    await apps.runners.enter('one'),
    await apps.runners.enter('one'),
  ];
  expect(one.port).not.toBe(other.port);
  other.end();
  const least = await apps.runners.enter('one');
  expect(least.port).toBe(other.port);
  for (const { end } of [one, third, least]) end();
  const before = await portsOf(2);

  const first = send();
  expect(await heldDuring(deploy('new', 2))).toBe(0);
  const names = named(await first.stop());
  expect([names[0], names.at(-1)]).toEqual(['old', 'new']);
  expect([...new Set(names)]).toEqual(['old', 'new']);

  const deployed = await portsOf(2);
  const second = send();
  expect(await heldDuring(restart())).toBe(0);
  expect([...new Set(named(await second.stop()))]).toEqual(['new']);
  expect(new Set([...before, ...deployed, ...(await portsOf(2))]).size).toBe(6);
});

it('without room for both, requests wait while one program follows the other, and none fails', async () => {
  await begin(3);
  await deploy('old', 2);
  const traffic = send();
  expect(await heldDuring(deploy('new', 2))).toBeGreaterThan(0);
  // There is room for a third process.
  expect(await heldDuring(restart())).toBe(0);
  await deploy('small', 1);
  await deploy('larger', 3);
  // The processes are started again one after the other.
  const before = await portsOf(3);
  expect(await heldDuring(restart())).toBe(0);
  expect(new Set([...before, ...(await portsOf(3))]).size).toBe(6);
  expect(named(await traffic.stop())).not.toContain(undefined);
  expect(states()).toEqual(['RUNNING', 'RUNNING', 'RUNNING']);
});

it('programs that nobody uses make room for all processes of a program, which lacks those that have none', async () => {
  await begin(3);
  await deploy('idle', 1, 'idle');
  await deploy('busy', 1, 'busy');
  const { end } = await apps.runners.enter('busy');
  await deploy('old', 2);
  expect([states('idle'), states('busy'), states()]).toEqual([[], ['RUNNING'], ['RUNNING', 'RUNNING']]);
  await deploy('old', 3);
  expect(apps.runners.inspect('one')).toMatchObject([
    ...[{ state: 'RUNNING' }, { state: 'RUNNING' }],
    { name: 'program-3', state: 'STARTING', reason: 'There is no room for it now.' },
  ]);
  end();
  await running(3);
  expect(states('busy')).toEqual([]);
  expect((await ask('/', 'busy')).status).toBe(200);
  expect(states()).toEqual([]);
});

it('while one of two processes is killed again and again, only requests that are on it fail', async () => {
  await begin();
  await deploy('agent', 2);
  const traffic = send();
  const { port: kept } = await ask();
  for (let restarts = 1; restarts <= 4; restarts++) {
    const other = [...(await portsOf(2))].find((port) => port !== kept);
    await expect(fetch(`http://127.0.0.1:${other}/kill`)).rejects.toThrow('fetch failed');
    await until(() => apps.uses()[0]!.restarts === restarts);
    await running(2);
  }
  const failed = (await traffic.stop()).filter((answer) => !answer.startsWith('200 '));
  // The connection of each was taken, which a process that has ended does not do.
  expect(failed.filter((answer) => !answer.includes('The deployment closed the connection.'))).toEqual([]);
  expect((await portsOf(2)).has(kept!)).toBe(true);
  expect(apps.runners.inspect('one').map(({ restarts }) => restarts)).toEqual(expect.arrayContaining([0, 4]));
  expect(told).toEqual(['one READY']);
});

it('a request that one process does not take goes to another one, and is refused when none takes it', async () => {
  await begin();
  await deploy('agent', 2);
  const { port } = await ask('/close');
  for (let count = 0; count < 4; count++) {
    const answer = await fetch(`${url}/apps/one/`, { method: 'POST', body: 'a question' });
    expect(answer.status).toBe(200);
    expect(((await answer.json()) as { port: string }).port).not.toBe(port);
  }
  await ask('/close');
  expect(await ask()).toMatchObject({ status: 503, text: expect.stringContaining('It does not take connections.') });
});

it('a process that does not come back is told, while another one answers', async () => {
  await begin();
  await deploy('agent', 2);
  const data = join(apps.folders.of('one').path, 'data');
  writeFileSync(join(data, 'broken'), '');
  await ask('/crash');
  await until(() => states().includes('CRASH_LOOPING'));
  const failed = apps.runners.inspect('one').find(({ state }) => state === 'CRASH_LOOPING');
  expect(failed).toMatchObject({ reason: expect.stringContaining('the data is broken'), restarts: 1 });
  for (let count = 0; count < 3; count++) expect((await ask()).status).toBe(200);
  expect(told).toEqual(['one READY']);
  rmSync(join(data, 'broken'));
  await running(2);
  await portsOf(2);
});

it('a program of which only one process starts is not deployed, and the one before goes on', async () => {
  await begin();
  await deploy('agent', 2);
  const before = await portsOf(2);
  await expect(deploy('single', 2)).rejects.toThrow(/ended with exit code 1 before it was ready.*EEXIST/);
  expect(await portsOf(2)).toEqual(before);
});

it('all processes sleep and wake, stop and start, and there are as many as the sizes say', async () => {
  await begin(3);
  await deploy('agent', 2);
  await deploy('other', 2, 'other');
  expect([states(), states('other')]).toEqual([[], ['RUNNING', 'RUNNING']]);
  expect((await ask()).status).toBe(200);
  await running(2);
  expect(states('other')).toEqual([]);
  await apps.stop('one');
  expect(apps.runners.inspect('one')).toEqual([]);
  expect((await ask()).status).toBe(503);
  await apps.start('one', new AbortController().signal);
  expect(states()).toEqual(['RUNNING', 'RUNNING']);
  active.get('one')!.min_scale = 3;
  await restart();
  await running(3);
  active.get('one')!.min_scale = 1;
  await restart();
  expect(apps.runners.inspect('one')).toMatchObject([{ name: 'program', state: 'RUNNING' }]);
});

it.each([
  ['its successor has taken its place', 20, 'new'],
  ['its successor waits for that', 1, 'old'],
])('a stop does not wait for a request to a program that is replaced, when %s', async (_, awake, last) => {
  // Far longer than a test may take.
  await begin(awake, 10 ** 9);
  await deploy('old', 1);
  const { port, end } = await apps.runners.enter('one');
  const deployed = Promise.allSettled([deploy('new', 1)]);
  await until(
    () => apps.runners.inspect('one')[0]!,
    ({ state, revision_id }) => (last === 'new' ? revision_id === 'one-new' : state === 'STARTING'),
  );
  await apps.stop('one');
  expect(apps.runners.inspect('one')).toEqual([]);
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  end();
  await deployed;
  await expect(apps.runners.enter('one')).rejects.toThrow('It was stopped.');
});
