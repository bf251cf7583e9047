import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestDatabase, testDatabase, until } from '@fairlead/postgres/testing';
import { v4 as newId } from 'uuid';
import { Home, killed, type Service } from '../testing/home';

/** Revisions that gates hold answer at addresses of their own on this machine. */

const WAIT_MS = 120_000;
/** Command lines of what this test starts hold it. */
const MARK = `mark-${crypto.randomUUID()}`;
const REASON = { 'x-reason': 'The test evaluates it with its secrets.' };

/** A program that tells what it has, keeps a note, and can send a run to its project. */
const program = (version: number) => `
const fs = require('node:fs'), { env } = process, note = env.DATA_DIR + '/note';
console.log('version ${version} starts');
const trace = async () => {
  const id = crypto.randomUUID(), start_time = new Date().toISOString();
  const run = { id, trace_id: id, name: 'agent', run_type: 'chain', inputs: {}, start_time, session_name: env.LANGSMITH_PROJECT };
  const headers = { 'x-api-key': env.LANGSMITH_API_KEY, 'content-type': 'application/json' };
  return (await fetch(env.LANGSMITH_ENDPOINT + '/runs', { method: 'POST', headers, body: JSON.stringify(run) })).status;
};
require('node:http').createServer(async (request, response) => {
  if (request.url === '/where') return response.end(JSON.stringify(env.DATA_DIR));
  if (request.url === '/note') fs.writeFileSync(note, 'version ${version}');
  const traced = request.url === '/trace' ? await trace() : null;
  const noted = fs.existsSync(note) ? fs.readFileSync(note, 'utf8') : null;
  const { LANGCHAIN_REVISION_ID: revision, LANGSMITH_PROJECT: project, TOKEN: token = null } = env;
  response.end(JSON.stringify({ version: ${version}, revision, project, token, noted, traced }));
}).listen(env.PORT, '127.0.0.1');
`;

let database: TestDatabase;
let home: Home;
let service: Service;
let dataset: string;

beforeAll(async () => {
  database = await testDatabase([]);
  home = new Home();
  service = await start();
  dataset = (await ask('POST', '/api/v1/datasets', { name: `questions ${newId()}` })).id;
}, WAIT_MS);
afterAll(async () => {
  const { resources } = await ask('GET', '/v2/deployments');
  for (const { id } of resources as { id: string }[]) await removed(id);
  await home.end();
  await database.drop();
});

const start = () => home.start({ EXECUTOR: 'local', DATABASE_URL: database.url });

/** Command lines of the programs. */
const programs = async () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return [];
      }
    })
    .filter((line) => line.includes(MARK) && !line.includes('/bin/sh'));

const running = (...wanted: string[]) =>
  until(
    programs,
    (lines) => wanted.every((word) => lines.some((line) => line.includes(word))) && lines.length === wanted.length,
    WAIT_MS,
  );

const send = (method: string, path: string, body?: object, headers: object = {}) =>
  fetch(service.url + path, {
    method,
    headers: { 'x-api-key': home.key(), ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });

async function ask(method: string, path: string, body?: object, headers?: object) {
  const answer = await send(method, path, body, headers);
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return JSON.parse(await answer.text());
}

async function removed(id: string): Promise<void> {
  await send('DELETE', `/v2/deployments/${id}`);
  await until(
    async () => (await send('GET', `/v2/deployments/${id}`)).status,
    (now) => now === 404,
    WAIT_MS,
  );
}

/** Makes a revision of a version, and answers its id. */
async function revise(id: string, version: number, lines = '', more: object = {}, headers = {}): Promise<string> {
  const from = mkdtempSync(join(tmpdir(), 'fairlead-preview-'));
  writeFileSync(join(from, 'Procfile'), `web: exec node server.js ${MARK} web-${version}\n${lines}`);
  writeFileSync(join(from, 'server.js'), program(version));
  writeFileSync(join(from, 'worker.js'), 'setInterval(() => undefined, 1000)');
  const { upload_url, object_path } = await ask('POST', `/v2/deployments/${id}/upload-url`);
  const body = execFileSync('tar', ['-cz', '-C', from, '.']);
  rmSync(from, { recursive: true });
  expect((await fetch(upload_url, { method: 'PUT', body })).ok).toBe(true);
  const source_revision_config = { source_tarball_path: object_path };
  const changes = { source_revision_config, ...more };
  return (await ask('PATCH', `/v2/deployments/${id}`, changes, headers)).latest_revision_id;
}

const gate = (more: object = {}) => ({
  ...{ name: 'questions', dataset_id: dataset, keys: { correct: { min_mean: 0.9 } }, preview: true, ...more },
});

/** A deployment whose first revision runs with a secret, and is noted in its data. */
async function deployed(name: string, gates: readonly object[] = [gate()]): Promise<string> {
  const { id } = await ask('POST', '/v2/deployments', {
    ...{ name, source: 'internal_source', source_config: {}, source_revision_config: {} },
    secrets: [{ name: 'TOKEN', value: 'sesame' }],
  });
  const first = await revise(id, 1);
  await reaches(id, first, 'DEPLOYED');
  await ask('GET', `/apps/${name}/note`);
  await ask('PUT', `/v2/deployments/${id}/gates`, { gates }, REASON);
  return id;
}

const reaches = (id: string, revision: string, status: string) =>
  until(
    async () => (await ask('GET', `/v2/deployments/${id}/revisions/${revision}`)).status as string,
    (now) => now === status,
    WAIT_MS,
  );

const previewOf = (id: string) =>
  until(
    async () => (await ask('GET', `/v2/deployments/${id}/health`)).latest_revision?.preview as string | null,
    (path) => path !== null,
    WAIT_MS,
  );

/** The log of a revision that says something. */
const logged = (id: string, revision: string, text: string) =>
  until(
    async () => {
      const { logs } = await ask('POST', `/v1/projects/${id}/revisions/${revision}/deploy_logs`, { limit: 100 });
      return (logs as { message: string }[]).map(({ message }) => message).join('\n');
    },
    (lines) => lines.includes(text),
    WAIT_MS,
  );

it('a held revision answers beside the active one, with what is its own, until it is let through', async () => {
  const id = await deployed('careful');
  const second = await revise(
    id,
    2,
    `worker: exec node worker.js ${MARK} worker\nrelease: echo ${MARK} > $DATA_DIR/note\n`,
  );
  const path = await previewOf(id);
  expect(path).toBe(`/apps/careful@${second}`);
  const { project } = await ask('GET', '/apps/careful/');
  const own = { version: 2, revision: second, project: `${project}@${second}`, token: null };
  expect(await ask('GET', `${path}/`)).toEqual({ ...own, noted: null, traced: null });
  expect(await ask('GET', `${path}/note`)).toMatchObject({ noted: 'version 2' });
  expect(await ask('GET', `/apps/${id}@${second}/`)).toMatchObject({ version: 2, noted: 'version 2' });
  expect(await ask('GET', '/apps/careful/')).toMatchObject({ version: 1, token: 'sesame', noted: 'version 1' });
  // No worker, no release, no cron.
  await running('web-1', 'web-2');
  const cron = await send('POST', `${path}/runs/crons`, {});
  expect([cron.status, await cron.json()]).toEqual([409, { detail: 'A revision that is held runs no crons.' }]);
  expect(await logged(id, second, `It answers at ${path}/ while it waits.`)).toMatch(
    '"worker:" of the Procfile is not run',
  );
  const lines = async (query = '') =>
    ((await ask('GET', `/v2/deployments/${id}/app_logs${query}`)).logs as { message: string }[]).map(
      (one) => one.message,
    );
  expect(await lines(`?revision_id=${second}`)).toEqual(['version 2 starts']);
  expect(await lines()).toEqual(['version 1 starts']);
  // Its runs are in a project of its own, and are no evidence of it.
  expect((await ask('GET', `${path}/trace`)).traced).toBe(202);
  await until(
    async () => (await ask('GET', `/api/v1/sessions?name=${encodeURIComponent(own.project)}`)).length as number,
    (count) => count === 1,
    WAIT_MS,
  );
  // Only keys with the scope to call it may.
  const { key } = await ask('POST', '/api/v1/api-key', { description: 'reader', scopes: ['read'] });
  expect((await send('GET', `${path}/`, undefined, { 'x-api-key': key })).status).toBe(403);
  // It is there again after the server was killed.
  await killed(service.process);
  service = await start();
  expect(await ask('GET', `${path}/`)).toMatchObject({ ...own, noted: 'version 2' });
  expect(await ask('GET', '/apps/careful/')).toMatchObject({ version: 1, noted: 'version 1' });
  const override = `/v2/deployments/${id}/revisions/${second}/override`;
  await ask('POST', override, undefined, REASON);
  await reaches(id, second, 'DEPLOYED');
  expect((await send('GET', `${path}/`)).status).toBe(404);
  expect(await ask('GET', '/apps/careful/')).toMatchObject({
    version: 2,
    project,
    token: 'sesame',
    noted: `${MARK}\n`,
  });
  expect((await ask('GET', `/v2/deployments/${id}/health`)).latest_revision.preview).toBeNull();
  await removed(id);
}, 600_000);

it('it has the secrets only if a gate says so, and ends when the wait does', async () => {
  const id = await deployed('trusted', [gate({ preview_secrets: true })]);
  const second = await revise(id, 2);
  const path = await previewOf(id);
  expect(await ask('GET', `${path}/`)).toMatchObject({ version: 2, token: 'sesame' });
  await running('web-1', 'web-2');
  // A newer one takes the place, in which nothing of the one before is left.
  await ask('GET', `${path}/note`);
  const third = await revise(id, 3);
  await reaches(id, second, 'SKIPPED');
  const next = await until(
    () => previewOf(id),
    (now) => now !== path,
    WAIT_MS,
  );
  expect(await ask('GET', `${next}/`)).toMatchObject({ version: 3, revision: third, noted: null });
  expect((await send('GET', `${path}/`)).status).toBe(404);
  await running('web-1', 'web-3');
  await ask('POST', `/v2/deployments/${id}/revisions/${third}/interrupt`);
  await running('web-1');
  expect((await send('GET', `${next}/`)).status).toBe(404);
  const fourth = await revise(id, 4);
  expect(await ask('GET', `${await previewOf(id)}/`)).toMatchObject({ version: 4, revision: fourth });
  await running('web-1', 'web-4');
  await removed(id);
  await running();
}, 600_000);

/** An experiment about a revision in which every answer is wrong; returns the id of its dataset. */
async function evaluate(dataset_name: string, revision_id: string): Promise<string> {
  const time = new Date().toISOString();
  const results = Array.from({ length: 60 }, () => ({
    ...{ row_id: newId(), inputs: {}, actual_outputs: {}, run_name: 'agent', start_time: time, end_time: time },
    evaluation_scores: [{ key: 'correct', score: 0 }],
  }));
  const named = { experiment_name: `experiment ${newId()}`, dataset_name, experiment_metadata: { revision_id } };
  const body = { ...named, experiment_start_time: time, experiment_end_time: time, results };
  return (await ask('POST', '/api/v1/datasets/upload-experiment', body)).dataset.id;
}

it.each<[string, (dataset: string, revision: string) => Promise<unknown>]>([
  ['refusal', evaluate],
  [
    'expiry',
    (_, revision) =>
      database.pool.query(
        `update held_revisions set held = (held::jsonb || '{"until": "2020-01-01T00:00:00.000Z"}')::text where id = $1`,
        [revision],
      ),
  ],
])(
  'its %s ends it, and leaves neither a process nor files',
  async (name, end) => {
    const questions = `questions ${newId()}`;
    const id = await deployed(name, [gate({ dataset_id: await evaluate(questions, newId()) })]);
    const second = await revise(id, 2);
    const path = await previewOf(id);
    await ask('GET', `${path}/note`);
    await running('web-1', 'web-2');
    const files = (await ask('GET', `${path}/where`)) as string;
    expect(readdirSync(files)).toEqual(['note']);
    await end(questions, second);
    await reaches(id, second, 'DEPLOY_FAILED');
    await running('web-1');
    expect((await send('GET', `${path}/`)).status).toBe(404);
    await until(
      () => existsSync(`${files}.json`) || (existsSync(files) && readdirSync(files).length > 0),
      (isLeft) => !isLeft,
    );
    expect(await ask('GET', `/apps/${name}/`)).toMatchObject({ version: 1 });
    await removed(id);
    await running();
  },
  600_000,
);

it('a first revision answers before anything of its deployment runs, and nothing does where it may not', async () => {
  const { id } = await ask('POST', '/v2/deployments', {
    ...{ name: 'first', source: 'internal_source', source_config: { gates: [gate()] }, source_revision_config: {} },
    secrets: [],
  });
  const first = await revise(id, 1);
  const path = await previewOf(id);
  expect(path).toBe(`/apps/first@${first}`);
  expect(await ask('GET', `${path}/`)).toMatchObject({ version: 1, revision: first });
  expect((await send('GET', '/apps/first/')).status).toBe(404);
  const weaker = { gates: [gate({ preview_secrets: true })] };
  const { key } = await ask('POST', '/api/v1/api-key', { description: 'writer', scopes: ['read', 'write'] });
  const refused = await send('PUT', `/v2/deployments/${id}/gates`, weaker, { ...REASON, 'x-api-key': key });
  expect(refused.status).toBe(403);
  await removed(id);
  await running();
}, 600_000);
