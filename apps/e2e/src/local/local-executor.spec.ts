import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { until } from '@fairlead/postgres/testing';
import { Installation, OPERATOR, startTogether } from '@fairlead/service/testing';
import { installedProgram, run } from '../testing/langgraph-cli';

/** Deployments that run on this machine, from the upload of their source to the runs that they send. */

let folder: string;
let installation: Installation;
let reader: string;

/** A program that answers what the service answers it: it sends the request that it is asked to, with its own key. */
const PROGRAM = `
const http = require('node:http');
http.createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => (body += chunk)).on('end', async () => {
    const { method, path, data } = JSON.parse(body || '{}');
    const headers = { 'x-api-key': process.env.LANGSMITH_API_KEY, 'content-type': 'application/json' };
    const answer = path && await fetch(process.env.LANGSMITH_ENDPOINT + path, { method, headers, ...(data && { body: JSON.stringify(data) }) });
    const text = answer ? await answer.text() : '';
    response.end(JSON.stringify({ status: answer?.status, text, greeting: process.env.GREETING, key: process.env.LANGSMITH_API_KEY, headers: request.headers }));
  });
}).on('upgrade', (request, socket) => {
  socket.end('HTTP/1.1 101 Switching Protocols\\r\\nconnection: Upgrade\\r\\nupgrade: websocket\\r\\n\\r\\n');
}).listen(process.env.PORT, '127.0.0.1');
`;

/** Answer of the program: the answers that it got itself, and the settings that it knows. */
interface Said {
  readonly status?: number;
  readonly text: string;
  readonly greeting: string;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Deployment {
  readonly id: string;
  readonly latest_revision_id: string;
  readonly active_revision_id: string;
}

function write(files: Readonly<Record<string, string>>): string {
  const from = mkdtempSync(join(folder, 'source-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(from, name)), { recursive: true });
    writeFileSync(join(from, name), text);
  }
  return from;
}

/** Creates a deployment of an uploaded source, and waits until it is deployed. */
async function deployed(name: string, files: Readonly<Record<string, string>>): Promise<Deployment> {
  const { id } = await installation.ask('POST', '/v2/deployments', {
    ...{ name, source: 'internal_source', source_config: {}, source_revision_config: {} },
    secrets: [{ name: 'GREETING', value: 'good morning' }],
  });
  const { upload_url, object_path } = await installation.ask('POST', `/v2/deployments/${id}/upload-url`);
  const body = execFileSync('tar', ['-cz', '-C', write(files), '.']);
  expect((await fetch(upload_url, { method: 'PUT', body })).ok).toBe(true);
  const source_revision_config = { source_tarball_path: object_path };
  const made: Deployment = await installation.ask('PATCH', `/v2/deployments/${id}`, { source_revision_config });
  const path = `/v2/deployments/${id}/revisions/${made.latest_revision_id}/wait?timeout=60`;
  const revision = await until(
    () => installation.ask('GET', path),
    ({ status }) => /DEPLOYED|FAILED/.test(status),
  );
  expect(revision).toMatchObject({ status: 'DEPLOYED' });
  return made;
}

/** Answer of a program to a request with this key. */
async function call(named: string, key: string, body: object = {}, headers: Readonly<Record<string, string>> = {}) {
  const answer = await fetch(`${installation.url}/apps/${named}/`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: answer.status, headers: answer.headers, json: (await answer.json()) as Said };
}

/** The status that a request for a WebSocket is answered. */
function handshake(named: string, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  const own = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
  const url = `${installation.url}/apps/${named}/`;
  return new Promise((resolve, reject) => {
    const request = send(url, { headers: { ...own, 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', ...headers } });
    request.on('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve(response.statusCode);
    });
    request.on('error', reject);
    request.end();
  });
}

async function runsOf(project: string): Promise<{ name: string; outputs: unknown }[]> {
  const [session] = await installation.ask('GET', `/api/v1/sessions?name=${encodeURIComponent(project)}`);
  if (!session) return [];
  return (await installation.ask('POST', '/api/v1/runs/query', { session: [session.id], is_root: true })).runs;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-local-executor-'));
  installation = await Installation.start({ EXECUTOR: 'local' }, startTogether);
  reader = (await installation.ask('POST', '/api/v1/api-key', { scopes: ['read'] })).key;
});
afterAll(async () => {
  try {
    const { resources } = (await installation?.ask('GET', '/v2/deployments')) ?? { resources: [] };
    for (const { id } of resources) {
      await installation.ask('DELETE', `/v2/deployments/${id}`);
      await until(
        () => installation.send('GET', `/v2/deployments/${id}`),
        ({ status }) => status === 404,
      );
    }
  } finally {
    await installation?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

describe('A program that runs here', () => {
  let deployment: Deployment;
  let caller: string;

  beforeAll(async () => {
    deployment = await deployed('Support Agent', { Procfile: 'web: node server.js\n', 'server.js': PROGRAM });
    caller = (await installation.ask('POST', '/api/v1/api-key', { scopes: ['invoke'] })).key;
  });

  it('answers at its id and at its name, for keys that may invoke it', async () => {
    for (const named of [deployment.id, 'support-agent']) {
      const { status, json } = await call(named, caller);
      expect([status, json.greeting, json.headers['x-api-key']]).toEqual([200, 'good morning', undefined]);
    }
    expect(await call('support-agent', reader)).toMatchObject({ status: 403 });
    expect(await call('another', caller)).toMatchObject({ status: 404, json: { detail: "App 'another' not found." } });
    expect((await fetch(`${installation.url}/v2/deployments`, { headers: { 'x-api-key': caller } })).status).toBe(403);
    expect(await installation.ask('GET', `/v2/deployments/${deployment.id}`)).toMatchObject({
      status: 'READY',
      executor: 'local',
      source_config: { custom_url: `${installation.url}/apps/support-agent` },
    });
  });

  it('is opened by no session of the console, whose cookie it does not get', async () => {
    const { code } = await installation.ask('POST', '/v1/console/codes');
    const signedIn = await fetch(`${installation.url}/v1/console/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: installation.url },
      body: JSON.stringify({ code }),
    });
    const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!;
    const own = { cookie, origin: installation.url, 'sec-fetch-site': 'same-origin' };
    expect((await fetch(`${installation.url}/v2/deployments`, { headers: own })).status).toBe(200);
    expect((await fetch(`${installation.url}/apps/support-agent/`, { headers: own })).status).toBe(401);
    expect(await handshake('support-agent', own)).toBe(401);
    expect(await handshake('support-agent', { 'x-api-key': reader })).toBe(403);
    expect(await handshake('support-agent', { 'x-api-key': caller })).toBe(101);
    const { json, headers } = await call('support-agent', caller, {}, { cookie: `${cookie}; theirs=1` });
    expect(json.headers.cookie).toBe('theirs=1');
    expect(headers.get('content-security-policy')).toMatch(/^sandbox /);
  });

  it('sends runs to its own project with a key that opens nothing else', async () => {
    const send = (method: string, path: string, data?: object) => call('support-agent', caller, { method, path, data });
    const id = '019b0000-0000-7000-8000-000000000001';
    const sent = {
      id,
      name: 'answer',
      run_type: 'chain',
      inputs: {},
      outputs: { text: 'hello' },
      session_name: 'other',
    };
    expect(await send('POST', '/runs', sent)).toMatchObject({ json: { status: 202 } });
    await until(
      () => runsOf('Support Agent'),
      (runs) => runs.length > 0,
    );
    expect(await runsOf('Support Agent')).toMatchObject([{ name: 'answer', outputs: { text: 'hello' } }]);
    expect(await runsOf('other')).toEqual([]);
    for (const [method, path] of [
      ['GET', '/v2/deployments'],
      ['GET', `/api/v1/sessions/${id}`],
      ['POST', '/api/v1/sessions'],
      ['POST', '/api/v1/runs/query'],
      ['POST', '/api/v1/api-key'],
      ['POST', '/apps/support-agent'],
    ]) {
      expect([path, (await send(method!, path!, method === 'POST' ? {} : undefined)).json.status]).toEqual([path, 403]);
    }
    const foreign = { id: '019b0000-0000-7000-8000-000000000002', name: 'elsewhere', run_type: 'chain', inputs: {} };
    await installation.ask('POST', '/api/v1/runs', { ...foreign, session_name: 'elsewhere' });
    expect(await send('PATCH', `/runs/${foreign.id}`, { outputs: { text: 'changed' } })).toMatchObject({
      json: { status: 403 },
    });
    for (const path of ['/sessions?limit=1', '/api/v1/sessions?name=elsewhere', '/sessions?reference_free=false']) {
      const { json } = await send('GET', path);
      expect([path, json.status, JSON.parse(json.text)]).toEqual([
        path,
        200,
        [expect.objectContaining({ name: 'Support Agent' })],
      ]);
    }
    const { json } = await send('GET', '/v2/deployments');
    await installation.ask(
      'POST',
      `/v2/deployments/${deployment.id}/revisions/${deployment.latest_revision_id}/redeploy`,
    );
    await until(
      () => fetch(`${installation.url}/api/v1/runs`, { method: 'POST', headers: { 'x-api-key': json.key } }),
      ({ status }) => status === 401,
    );
  });

  it('is told about in its health and in the metrics', async () => {
    await call('support-agent', caller);
    const { processes } = await until(
      () => installation.ask('GET', `/v2/deployments/${deployment.id}/health`),
      (health) => health.processes[0]?.memory_bytes > 0 && health.processes[0].cpu_cores !== null,
    );
    expect(processes).toMatchObject([{ name: 'program', state: 'RUNNING', reason: null }]);
    const metrics = await (await fetch(`${installation.url}/metrics`)).text();
    expect(metrics).toMatch(
      new RegExp(`^fairlead_app_memory_bytes\\{deployment="${deployment.id}"\\} [1-9]\\d+$`, 'm'),
    );
    expect(metrics).toMatch(new RegExp(`^fairlead_app_cpu_cores\\{deployment="${deployment.id}"\\} [\\d.e-]+$`, 'm'));
    expect(metrics).toMatch(/^fairlead_apps\{state="RUNNING"\} 1$/m);
    expect(metrics).toMatch(/^fairlead_app_log_lines_total\{outcome="kept"\} \d+$/m);
    expect(metrics).toMatch(/^fairlead_app_log_lines_total\{outcome="dropped"\} 0$/m);
  });

  it('has commands beside it, which end the command line as they end', async () => {
    const root = join(__dirname, '../../../..');
    const words = ['-r', join(root, 'tools/test/typescript.cjs'), join(root, 'apps/cli/src/main.ts')];
    const env = { ...process.env, FAIRLEAD_URL: installation.url, FAIRLEAD_KEY: OPERATOR };
    const script = 'echo "$GREETING, $LANGSMITH_TRACING"; echo "oh" >&2; exit 9';
    const command = ['deployments', 'run', deployment.id, '--', 'sh', '-c', script];
    const child = spawn(process.execPath, [...words, ...command], { env });
    const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    expect([code, out, err]).toEqual([9, '[redacted], true\n', 'oh\n']);
    const types = 'types=CommandStarted,CommandEnded';
    const { resources } = await installation.ask('GET', `/v2/deployments/${deployment.id}/history?${types}`);
    expect(resources).toMatchObject([
      { type: 'CommandEnded', command: { exit_code: 9, reason: null } },
      { type: 'CommandStarted', command: { words: ['sh', '-c', script] } },
    ]);
    const { status } = await fetch(`${installation.url}/v2/deployments/${deployment.id}/commands`, {
      method: 'POST',
      headers: { 'x-api-key': reader, 'content-type': 'application/json' },
      body: '{"command":["true"]}',
    });
    expect(status).toBe(403);
  });

  it('shows its pages to browsers at a host of its own', async () => {
    const { url } = await installation.ask('POST', `/v2/deployments/${deployment.id}/browser-links`);
    const { host, pathname, search, port } = new URL(url);
    expect(host).toBe(`support-agent.localhost:${port}`);
    const visit = (path: string, headers: Readonly<Record<string, string>>) =>
      new Promise<{ statusCode?: number; headers: Readonly<Record<string, unknown>> }>((resolve, reject) => {
        const request = send({ host: '127.0.0.1', port, path, headers: { host, ...headers } }, (response) => {
          response.resume();
          resolve(response);
        });
        request.on('error', reject).end();
      });
    const page = { accept: 'text/html' };
    const opened = await visit(pathname + search, page);
    expect(opened.statusCode).toBe(303);
    const cookie = (opened.headers['set-cookie'] as string[])[0]!.split(';')[0]!;
    // Addresses of the console are the program's there.
    for (const path of ['/', '/login', '/datasets/x', '/api/v1/info']) {
      expect([path, (await visit(path, { ...page, cookie })).statusCode]).toEqual([path, 200]);
      expect([path, (await visit(path, page)).statusCode]).toEqual([path, 401]);
    }
  });

  it('is the only workspace’s', async () => {
    expect(await installation.send('POST', '/api/v1/workspaces', { display_name: 'Second' })).toMatchObject({
      status: 409,
      json: { detail: expect.stringContaining('EXECUTOR=local') },
    });
  });
});

const program = installedProgram();
const describeAgent = program === undefined ? describe.skip : describe;
const reason = program === undefined ? ' (skipped: the package registry cannot be reached)' : '';

/** Uses the deployment at URL with the client for JavaScript, and says what it was answered. */
const CLIENT = `
import { Client } from '@langchain/langgraph-sdk';
const client = new Client({ apiUrl: process.env.URL, apiKey: process.env.KEY });
const { thread_id } = await client.threads.create();
const waited = await client.runs.wait(thread_id, 'agent', { input: { name: 'Grace' } });
const streamed = [];
for await (const { event, data } of client.runs.stream(thread_id, 'agent', { input: { name: 'Alan' }, streamMode: 'values' })) {
  if (event === 'values') streamed.push(data.said);
}
const { values } = await client.threads.getState(thread_id);
console.log(JSON.stringify({ waited: waited.said, streamed: streamed.at(-1), state: values.said }));
`;

/** The agent that the README deploys. */
const GREETER = join(__dirname, '../../../../docs/examples/greeter');

describeAgent(`An agent that the LangGraph command line deploys${reason}`, () => {
  it('answers, keeps its threads, and its runs are in its project', async () => {
    const env = { LANGSMITH_API_KEY: OPERATOR, LANGGRAPH_CLI_NO_ANALYTICS: '1', HOME: folder, PATH: '/bin:/usr/bin' };
    const deploy = ['deploy', '--remote', '--no-input', '--name', 'greeter', '--host-url', installation.url];
    const said = await run(process.execPath, [program!, ...deploy], GREETER, env);
    expect(said).toMatchObject({ code: 0, output: expect.stringContaining('Deployment successful') });
    expect(said.output).toContain(`${installation.url}/apps/greeter`);
    const ask = async (path: string, body: object) => {
      const answer = await fetch(`${installation.url}/apps/greeter${path}`, {
        method: 'POST',
        headers: { 'x-api-key': OPERATOR, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return (await answer.json()) as Record<string, unknown>;
    };
    const { thread_id } = await ask('/threads', {});
    const input = { assistant_id: 'agent', input: { name: 'Ada' } };
    expect(await ask(`/threads/${String(thread_id)}/runs/wait`, input)).toMatchObject({ said: 'Hello, Ada' });
    const client = ['--input-type=module', '--eval', CLIENT];
    const keyed = { URL: `${installation.url}/apps/greeter`, KEY: OPERATOR, HOME: folder, PATH: '/bin:/usr/bin' };
    const heard = await run(process.execPath, client, join(dirname(program!), '../../../../..'), keyed);
    expect([heard.errors, heard.output && JSON.parse(heard.output)]).toEqual([
      '',
      { waited: 'Hello, Grace', streamed: 'Hello, Alan', state: 'Hello, Alan' },
    ]);
    await until(
      () => runsOf('greeter'),
      (runs) => runs.some(({ outputs }) => (outputs as { said?: string } | null)?.said === 'Hello, Ada'),
    );
    const again = await run(process.execPath, [program!, ...deploy], GREETER, env);
    expect(again.code).toBe(0);
    expect(await ask(`/threads/${String(thread_id)}/history`, {})).toMatchObject([
      { values: { said: 'Hello, Ada' } },
      {},
      {},
    ]);
  });
});
