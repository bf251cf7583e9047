import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from '@fairlead/postgres/testing';
import { Installation, OPERATOR } from '@fairlead/service/testing';
import { pythonWithFetch } from '../testing/langsmith-python';

/** The program `langsmith-fetch`, unmodified: it is given the address of the service and a key. */

const python = pythonWithFetch();
const itHere = python === undefined ? it.skip : it;
const THREAD = 'support 42 (größer)';
/** The program does not encode it. */
const WITH_SLASH = 'support/42';
const said = (role: string, content: string) => ({ role, content });

let installation: Installation;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-fetch-'));
  installation = await Installation.start();
  for (const [minute, question, answer, session_name, thread_id] of [
    [1, 'Where is my parcel?', 'It is on its way.', 'support', THREAD],
    [2, 'Since when?', 'Since Monday.', 'support', THREAD],
    [3, 'Hello?', 'Hello.', 'slashes', WITH_SLASH],
  ] as const) {
    await installation.ask('POST', '/api/v1/runs', {
      id: crypto.randomUUID(),
      name: 'agent',
      session_name,
      start_time: `2026-01-01T00:0${minute}:00Z`,
      end_time: `2026-01-01T00:0${minute}:01Z`,
      inputs: { messages: [said('user', question)] },
      outputs: { messages: [said('assistant', answer)] },
      extra: { metadata: { thread_id } },
    });
  }
});
afterAll(async () => {
  await installation?.stop();
  rmSync(folder, { recursive: true, force: true });
});

itHere(`langsmith-fetch reads threads${python === undefined ? ' (skipped: it is not installed)' : ''}`, async () => {
  const projectOf = (name: string) =>
    until(async () => {
      const found = await installation.ask('GET', `/api/v1/sessions?name=${name}`);
      return (found as { id: string }[])[0]?.id;
    });
  const project = await projectOf('support');
  const { PATH } = process.env;
  const env = {
    PATH,
    HOME: folder,
    COLUMNS: '1000',
    LANGSMITH_ENDPOINT: `${installation.url}/api/v1`,
    LANGSMITH_API_KEY: OPERATOR,
  };
  const fetch = async (...args: string[]) =>
    (await promisify(execFile)(python!, ['-m', 'langsmith_cli', ...args], { env, cwd: folder, timeout: 280_000 }))
      .stdout;
  const messages = [
    said('user', 'Where is my parcel?'),
    said('assistant', 'It is on its way.'),
    said('user', 'Since when?'),
    said('assistant', 'Since Monday.'),
  ];
  const one = await fetch('thread', THREAD, '--project-uuid', project, '--format', 'raw');
  expect(JSON.parse(one)).toMatchObject({
    ...{ thread_id: THREAD, messages },
    metadata: { status: 'success', duration_ms: 1000, custom_metadata: { thread_id: THREAD } },
  });
  const slashes = await projectOf('slashes');
  const other = await fetch('thread', WITH_SLASH, '--project-uuid', slashes, '--format', 'raw');
  expect(JSON.parse(other)).toMatchObject({
    thread_id: WITH_SLASH,
    messages: [said('user', 'Hello?'), said('assistant', 'Hello.')],
  });
  await fetch('threads', 'threads', '--project-uuid', project, '--limit', '5');
  const files = readdirSync(join(folder, 'threads'));
  expect(files).toHaveLength(1);
  expect(JSON.stringify(JSON.parse(readFileSync(join(folder, 'threads', files[0]!), 'utf8')))).toContain(
    JSON.stringify(messages).slice(1, -1),
  );
});
