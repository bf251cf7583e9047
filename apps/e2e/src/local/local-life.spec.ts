import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { until } from '@fairlead/postgres/testing';
import { Home, killed, type Service } from '../testing/home';

/** Programs that run on this machine outlive a server that is killed, sleep, and take the server from nobody. */

const WAIT_MS = 120_000;
/** Command lines of what this test starts hold it. */
const MARK = `mark-${crypto.randomUUID()}`;
/** Requests that are sent together, to find out whether they come to one process. */
const TOGETHER = 4;
/**
 * A program that tells how often it was started. It answers /together when as many requests as are sent together have
 * come. Where it has a user of its own, each start leaves a process behind that is not of its group.
 */
const PROGRAM = `
const { spawn } = require('node:child_process'), fs = require('node:fs');
const data = process.env.DATA_DIR, file = data + '/starts';
fs.appendFileSync(file, 'one ');
const starts = fs.readFileSync(file, 'utf8').split(' ').length - 1;
const endless = ['-e', 'setInterval(() => undefined, 1000)', '${MARK}', 'left-' + starts, data];
if (process.getuid() > 1e9) spawn(process.execPath, endless, { detached: true, stdio: 'ignore' });
const held = [];
require('node:http').createServer((request, response) => {
  const answer = () => response.end(JSON.stringify({ starts, data }));
  if (request.url !== '/together') return answer();
  held.push(answer);
  if (held.length === ${TOGETHER}) held.forEach((one) => one());
}).listen(process.env.PORT, '127.0.0.1');
`;

/**
 * A program that keeps unfinished requests to the server open, as many as a request to it says, and opens them again
 * when they are closed.
 */
const flood = (port: string) => `
const { connect } = require('node:net'), held = new Set();
let [wanted, tried] = [0, 0];
setInterval(() => {
  for (let n = 0; n < 10 && held.size < wanted; n++) {
    const socket = connect(${port}, '127.0.0.1');
    socket.write('POST /api/v1/runs HTTP/1.1\\r\\nContent-Length: 9\\r\\n');
    socket.on('error', () => undefined).on('close', () => held.delete(socket));
    held.add(socket);
    tried += 1;
  }
}, 10);
require('node:http').createServer((request, response) => {
  wanted = Number(new URL(request.url, 'http://a').searchParams.get('wanted') ?? wanted);
  response.end(JSON.stringify({ tried, held: held.size }));
}).listen(process.env.PORT, '127.0.0.1');
`;

interface Said {
  readonly starts: number;
  readonly data: string;
}

let home: Home;
let service: Service;
let data: string | undefined;

beforeAll(() => {
  home = new Home();
});
afterAll(async () => {
  await home.end();
  await until(running, (left) => left.length === 0, WAIT_MS);
  // As root, deployments have their folders outside of the data directory.
  if (data !== undefined) rmSync(dirname(dirname(data)), { recursive: true, force: true });
});

/** Command lines of what runs of the deployments. */
async function running(): Promise<string[]> {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return [];
      }
    })
    .filter((line) => line.includes(MARK));
}

async function ask(method: string, path: string, body?: object) {
  const answer = await fetch(service.url + path, {
    method,
    headers: { 'x-api-key': home.key(), ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return JSON.parse(await answer.text());
}

/** Creates a deployment and uploads its source; resolves to its id and its revision. */
async function deploy(
  name: string,
  source_config: object = {},
  program = PROGRAM,
): Promise<{ id: string; revision: string }> {
  const { id } = await ask('POST', '/v2/deployments', {
    ...{ name, source: 'internal_source', source_config, source_revision_config: {} },
    secrets: [],
  });
  const from = mkdtempSync(join(tmpdir(), 'fairlead-life-'));
  writeFileSync(join(from, 'Procfile'), `web: node server.js ${MARK} ${name}\n`);
  writeFileSync(join(from, 'server.js'), program);
  const { upload_url, object_path } = await ask('POST', `/v2/deployments/${id}/upload-url`);
  const body = execFileSync('tar', ['-cz', '-C', from, '.']);
  rmSync(from, { recursive: true });
  expect((await fetch(upload_url, { method: 'PUT', body })).ok).toBe(true);
  const source_revision_config = { source_tarball_path: object_path };
  const { latest_revision_id } = await ask('PATCH', `/v2/deployments/${id}`, { source_revision_config });
  return { id, revision: latest_revision_id };
}

const status = async ({ id, revision }: { id: string; revision: string }): Promise<string> =>
  (await ask('GET', `/v2/deployments/${id}/revisions/${revision}`)).status;

/** Deletes deployments, and waits until nothing is left of them. */
async function removed(...deployments: readonly { readonly id: string }[]): Promise<void> {
  for (const { id } of deployments) {
    await fetch(`${service.url}/v2/deployments/${id}`, { method: 'DELETE', headers: { 'x-api-key': home.key() } });
    await until(
      async () => (await fetch(`${service.url}/v2/deployments/${id}`, { headers: { 'x-api-key': home.key() } })).status,
      (now) => now === 404,
      WAIT_MS,
    );
  }
}

it('what ran is available again after kill -9 of the server, in one process, and sleeps when nobody uses it unless it is always on', async () => {
  service = await home.start({ EXECUTOR: 'local' });
  const deployed = await deploy('deployed');
  await until(
    () => status(deployed),
    (now) => now === 'DEPLOYED',
    WAIT_MS,
  );
  const before: Said = await ask('GET', '/apps/deployed/');
  ({ data } = before);
  expect(before.starts).toBe(1);
  const always = await deploy('always', { resource_spec: { min_scale: 1 } });
  await until(
    () => status(always),
    (now) => now === 'DEPLOYED',
    WAIT_MS,
  );
  const inBuild = await deploy('in-build', { install_command: `sleep 2; echo ${MARK}` });
  await until(
    () => status(inBuild),
    (now) => !['QUEUED', 'AWAITING_BUILD'].includes(now),
    WAIT_MS,
  );
  await killed(service.process);
  // Without it, only what has left its process group goes on.
  const programs = async () => (await running()).filter((line) => !line.includes('left-'));
  const ofAlways = async () => (await programs()).filter((line) => line.includes(`${MARK} always`));
  const others = async () => (await programs()).filter((line) => !line.includes(`${MARK} always`));
  await until(programs, (left) => left.length === 0, WAIT_MS);

  service = await home.start({ EXECUTOR: 'local', LOCAL_SLEEP_AFTER: '1' });
  // Without any request.
  await until(ofAlways, (started) => started.length > 0, WAIT_MS);
  const leftBefore = async () => (await running()).filter((line) => line.includes(`left-1 ${data}`));
  await until(leftBefore, (left) => left.length === 0, WAIT_MS);
  const again = await Promise.all(Array.from({ length: TOGETHER }, () => ask('GET', '/apps/deployed/together')));
  expect(again).toEqual(Array(TOGETHER).fill({ starts: 2, data }));
  await until(
    () => status(inBuild),
    (now) => now === 'DEPLOYED',
    WAIT_MS,
  );

  await until(
    async () => (await ask('GET', `/v2/deployments/${deployed.id}`)).status,
    (now) => now === 'UNUSED',
    WAIT_MS,
  );
  await until(others, (left) => left.length === 0, WAIT_MS);
  expect((await ask('GET', '/apps/deployed/')).starts).toBe(3);
  // The other one slept, and this one has run all the time.
  expect((await ask('GET', '/apps/always/')).starts).toBe(2);
  const reported = async () => {
    const { resources } = await ask('GET', `/v2/deployments/${deployed.id}/history?types=DeploymentStatusReported`);
    const changes = (resources as { changes: { after: string }[] }[]).flatMap((entry) => entry.changes);
    return changes.map(({ after }) => after);
  };
  await until(reported, (all) => all.includes('UNUSED') && all.includes('READY'), WAIT_MS);
  await removed(deployed, inBuild, always);
}, 600_000);

it('a program that holds many unfinished requests to the server keeps nobody else from it', async () => {
  if (service) await killed(service.process);
  service = await home.start({
    ...{ EXECUTOR: 'local', MAX_CONNECTIONS: '4000', MAX_CONNECTIONS_PER_ADDRESS: '1200', LOG_LEVEL: 'warn' },
  });
  const flooding = await deploy('flooding', {}, flood(new URL(service.url).port));
  const other = await deploy('other');
  for (const one of [flooding, other]) {
    await until(
      () => status(one),
      (now) => now === 'DEPLOYED',
      WAIT_MS,
    );
  }
  const wanted = 5000;
  await ask('GET', `/apps/flooding/?wanted=${wanted}`);
  const tried = async (): Promise<number> => (await ask('GET', '/apps/flooding/')).tried;
  const first = await until(tried, (count) => count > wanted, WAIT_MS);
  for (let round = 0; round < 30; round++) {
    expect((await ask('GET', '/v2/deployments')).resources.length).toBeGreaterThan(1);
    expect((await fetch(`${service.url}/info`, { headers: { connection: 'close' } })).status).toBe(200);
    expect((await ask('GET', '/apps/other/')).starts).toBe(1);
  }
  // It went on meanwhile.
  await until(tried, (count) => count > first, WAIT_MS);
  await until(
    () => service.output() + service.errors(),
    (log) => log.includes('Connections were closed, because there were too many'),
    WAIT_MS,
  );
  await removed(flooding, other);
}, 600_000);
