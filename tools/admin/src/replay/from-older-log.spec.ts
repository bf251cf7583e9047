import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EsdbLog, EventStoreDbDouble } from '@fairlead/eventstoredb/testing';
import { type TestDatabase, testDatabase } from '@fairlead/postgres/testing';
import { readSettings, type Standalone, startStandalone } from '@fairlead/standalone';
import { until } from '@fairlead/e2e/testing';

const ROOT = join(__dirname, '../../../..');
const KEY = 'older-log-operator-key';
const SENTENCE = /The log is older than the database: .+ run `npm run replay -- --from-older-log`, which .+\./;

let folder: string;
let database: TestDatabase;
let double: EventStoreDbDouble;
let standalone: Standalone | undefined;
let env: Record<string, string>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-older-log-'));
  database = await testDatabase([]);
  double = await EventStoreDbDouble.start();
  env = { DATABASE_URL: database.url, FAIRLEAD_DATA_DIR: folder, EVENTSTORE_URL: double.url };
  // The command refuses to work beside a service, and the pool of this test looks like one.
  await database.pool.end();
});
afterAll(async () => {
  await standalone?.stop();
  await double.stop();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<void> {
  standalone = await startStandalone(
    readSettings({ ...env, PORT: '0', FAIRLEAD_API_KEY: KEY, LOG_LEVEL: 'silent', EXECUTOR: 'record' }),
  );
  await until(async () => (await send('GET', '/health/ready')).status === 200);
}
async function stop(): Promise<void> {
  await standalone!.stop();
  standalone = undefined;
}
/** The server comes back at the same place with another log. */
async function restore(log: EsdbLog): Promise<void> {
  const { port } = double.address;
  await double.stop();
  double = await EventStoreDbDouble.start({ port, log });
}
async function run(tool: 'replay' | 'audit', ...args: string[]) {
  const child = spawn(
    process.execPath,
    ['-r', join(ROOT, 'tools/test/typescript.cjs'), join(ROOT, 'tools/admin/src/main.ts'), tool, ...args],
    {
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let [output, errors] = ['', ''];
  child.stdout.on('data', (data: Buffer) => (output += data.toString()));
  child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
  await once(child, 'close');
  return { code: child.exitCode, output, errors };
}
// Answers are of many shapes.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
async function send(method: string, path: string, body?: object, key?: string): Promise<{ status: number; body: any }> {
  const answer = await fetch(standalone!.url + path, {
    method,
    headers: {
      'x-api-key': KEY,
      'content-type': 'application/json',
      'x-reason': 'why',
      ...(key && { 'idempotency-key': key }),
    },
    body: body && JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, body: text && JSON.parse(text) };
}
const image = (tag: string) => ({ source_revision_config: { image_uri: `registry.example/agent:${tag}` } });
const deployment = (name: string) => ({
  name,
  source: 'external_container',
  source_config: {},
  ...image('1'),
  secrets: [{ name: 'TOKEN', value: 'sealed' }],
});
const experiment = (name: string) => ({
  experiment_name: name,
  dataset_name: 'capitals',
  experiment_start_time: '2026-01-01T12:00:00Z',
  experiment_end_time: '2026-01-01T12:05:00Z',
  results: [
    {
      row_id: '0196b1f0-0000-7000-8000-000000000001',
      inputs: { question: 'What is the capital of France?' },
      actual_outputs: { answer: name },
      start_time: '2026-01-01T12:01:00Z',
      end_time: '2026-01-01T12:01:02Z',
    },
  ],
});
async function create(name: string, key?: string): Promise<string> {
  const { status, body } = await send('POST', '/v2/deployments', deployment(name), key);
  expect([status, body]).toEqual([201, expect.objectContaining({ name })]);
  await until(async () => (await send('GET', `/v2/deployments/${body.id}`)).body.active_revision_id);
  return body.id as string;
}
async function upload(name: string): Promise<void> {
  expect((await send('POST', '/api/v1/datasets/upload-experiment', experiment(name))).status).toBe(200);
  await until(async () => (await send('GET', `/api/v1/sessions?name=${name}`)).body[0]?.run_count === 1);
}
/** A deployment whose second revision its gates hold. */
async function createHeld(): Promise<string> {
  const id = await create('held');
  const [dataset] = (await send('GET', '/api/v1/datasets?name=capitals')).body;
  const gates = [{ name: 'capitals', dataset_id: dataset.id, keys: { correct: { max_drop: 0.1 } } }];
  expect((await send('PUT', `/v2/deployments/${id}/gates`, { gates })).status).toBe(200);
  const { body } = await send('PATCH', `/v2/deployments/${id}`, image('2'));
  const path = `/v2/deployments/${id}/revisions/${body.latest_revision_id}`;
  await until(async () => (await send('GET', `${path}/verdict`)).body.looked_at);
  return path;
}
const names = async (path: string, member: 'resources' | undefined) => {
  const { body } = await send('GET', path);
  return ((member ? body[member] : body) as { name: string }[]).map(({ name }) => name).sort();
};
const experiments = async () => (await names('/api/v1/sessions', undefined)).filter((name) => /early|late/.test(name));

it('refuses a log that is older than the database, and makes the database agree with it when that is asked for', async () => {
  await start();
  const one = await create('one');
  await upload('early');
  const held = await createHeld();
  const overridden = async () => {
    expect((await send('POST', `${held}/override`)).status).toBe(200);
    await until(async () => (await send('GET', held)).body.status === 'DEPLOYED');
    expect((await send('GET', `${held}/verdict`)).body.held).toBe(false);
  };
  await until(async () => (await send('GET', '/health/ready')).status === 200);
  const older = double.log.backup();
  const two = await create('two', 'create-two');
  await send('PATCH', `/v2/deployments/${one}`, image('2'));
  await upload('late');
  await overridden();

  // While it runs.
  await restore(older);
  const count = double.log.events.length;
  const detail = expect.stringMatching(SENTENCE) as string;
  const refused = { status: 503, body: { detail } };
  expect(await send('POST', '/v2/deployments', deployment('three'))).toMatchObject(refused);
  expect(await send('PATCH', `/v2/deployments/${one}`, image('3'))).toMatchObject(refused);
  const ready = await send('GET', '/health/ready');
  expect([ready.status, JSON.stringify(ready.body)]).toEqual([
    503,
    expect.stringContaining('Events cannot be appended'),
  ]);
  expect(double.log.events).toHaveLength(count);
  await expect(run('replay', '--from-older-log')).resolves.toMatchObject({
    code: 1,
    errors: 'Fairlead is running on this database: stop it first.\n',
  });
  await stop();

  // At each start, and by the tools.
  await expect(start()).rejects.toThrow(SENTENCE);
  expect(await run('replay')).toMatchObject({ code: 1, errors: expect.stringMatching(SENTENCE) as string });
  const audited = await run('audit');
  expect([audited.code, audited.output]).toEqual([
    1,
    expect.stringMatching(/^WRONG The log is older than the database/),
  ]);
  expect(double.log.events).toHaveLength(count);

  const mended = await run('replay', '--from-older-log');
  expect([mended.code, mended.output]).toEqual([0, expect.stringContaining('deployments: made again')]);
  expect(mended.output).toMatch(/^1 uploads have no event any more:\n {2}[0-9a-f]{64} of workspace/m);
  // The secret of the deployment that was refused was sealed as well.
  expect(mended.output).toMatch(/^2 secrets have no event any more:$/m);
  expect(mended.output).toContain(`\n  ${two}\n`);
  expect(mended.output).toContain('log.seals: goes on at the first event of the log');
  const again = await run('replay', '--from-older-log');
  expect([again.code, again.output]).toEqual([0, 'The log is not older than the database: nothing was changed.\n']);

  await start();
  expect(await names('/v2/deployments', 'resources')).toEqual(['held', 'one']);
  expect((await send('GET', `/v2/deployments/${one}`)).body).toMatchObject(image('1'));
  expect(await experiments()).toEqual(['early']);
  // The gates of the log hold it again, until somebody overrides them again.
  expect((await send('GET', `${held}/verdict`)).body).toMatchObject({ held: true, outcome: 'hold' });
  expect(mended.output).toContain('held-revisions: made again');
  await overridden();
  // What is lost can be made again, and what is written is shown.
  await create('two', 'create-two');
  expect((await send('PATCH', `/v2/deployments/${one}`, image('4'))).status).toBe(200);
  await upload('late');
  expect(await names('/v2/deployments', 'resources')).toEqual(['held', 'one', 'two']);
  const listed = (await send('GET', '/v2/deployments?name_contains=one')).body.resources;
  expect(listed).toMatchObject([image('4')]);
  expect(await experiments()).toEqual(['early', 'late']);
  await until(async () => (await send('GET', '/health/ready')).status === 200);
  const { code, output } = await run('audit');
  expect([code, output]).toEqual([3, expect.not.stringContaining('WRONG')]);
});
