import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SourceArchives } from '@fairlead/contracts';
import { until } from '@fairlead/postgres/testing';
import { TestRollouts } from '@fairlead/rollouts/testing';
import { Traffic } from '../testing/traffic';
import { LocalApps } from './local-apps';
import { LocalExecutor } from './local-executor';

/**
 * This file tests the answers that clients get at the address of a deployment, at 50 requests a second and through
 * WebSockets.
 */

/**
 * A server that answers its version and the number of requests that its deployment has had, which it keeps as the
 * LangGraph server for development does: it reads the file when it starts and writes it when it ends.
 */
const server = (version: string) => `#!/usr/bin/env node
const http = require('node:http'), fs = require('node:fs'), crypto = require('node:crypto');
const file = (fs.existsSync('.langgraph_api') ? '.langgraph_api' : process.env.DATA_DIR) + '/count';
if (process.env.BROKEN === '${version}') throw new Error('no model in ${version}');
let count = fs.existsSync(file) ? Number(fs.readFileSync(file, 'utf8')) : 0;
process.on('SIGTERM', () => { fs.writeFileSync(file, String(count)); process.exit(0); });
http.createServer((request, response) => {
  if (request.url === '/ok') return response.end();
  count++;
  request.resume().on('end', () => setTimeout(() => response.end(JSON.stringify({ version: '${version}', count })), 5));
}).on('upgrade', (request, socket, head) => {
  if (request.url === '/closed') return socket.end('HTTP/1.1 403 Forbidden\\r\\ncontent-length: 2\\r\\n\\r\\nno');
  const key = request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
  const accept = crypto.createHash('sha1').update(key).digest('base64');
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nupgrade: websocket\\r\\nconnection: Upgrade\\r\\nsec-websocket-accept: ' + accept + '\\r\\n\\r\\n');
  socket.write(JSON.stringify({ version: '${version}', url: request.url, headers: request.headers }) + '\\n');
  if (request.url === '/deaf') return socket.on('error', () => undefined).resume();
  socket.on('error', () => undefined).pipe(socket);
}).listen(process.env.PORT, '127.0.0.1');
`;

let service: TestRollouts;
let apps: LocalApps;
let folder: string;
let url: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-steady-'));
  execFileSync('chmod', ['0711', folder]);
  service = await TestRollouts.create();
  service.archives = new (class extends SourceArchives {
    async open(_tenant: string, _id: string, path: string) {
      const bytes = readFileSync(path);
      return (async function* () {
        yield bytes;
      })();
    }
  })();
  apps = new LocalApps(join(folder, 'apps'), { awake: 20 });
  await service.start(new LocalExecutor(apps));
  url = await service.listen();
});
afterAll(async () => {
  await service?.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** Makes a revision of these files; answers its id. */
function deploy(id: string, files: Readonly<Record<string, string>>, more: object = {}): Promise<string> {
  const from = mkdtempSync(join(folder, 'source-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(from, name), text);
  const source_tarball_path = `${from}.tar.gz`;
  execFileSync('tar', ['-czf', source_tarball_path, '-C', from, '.']);
  return service.revision(id, { source: 'internal_source', source_revision_config: { source_tarball_path }, ...more });
}

/** Waits until a revision has ended; answers its last status. */
async function ended(id: string, revision: string): Promise<string> {
  const statuses = await until(
    () => service.statuses(id, revision),
    (all) => /FAILED|DEPLOYED/.test(all.join()),
  );
  return statuses.at(-1)!;
}

/** The versions that answered, in order; fails when a request was not answered 200. */
function versions(answers: readonly string[]): string[] {
  expect(answers.filter((answer) => !/^200 \{/.test(answer))).toEqual([]);
  return answers.map((answer) => (JSON.parse(answer.slice(4)) as { version: string }).version);
}

/** A client that asks for a WebSocket; it sends and reads the bytes of frames as they are. */
class Client {
  private text = '';
  private readonly socket: Socket;
  private isClosed = false;

  constructor(path: string, headers: Readonly<Record<string, string>> = {}) {
    const { hostname, port } = new URL(url);
    this.socket = connect(Number(port), hostname);
    this.socket.setEncoding('latin1').on('data', (more: string) => (this.text += more));
    this.socket.on('error', () => undefined).once('close', () => (this.isClosed = true));
    const lines = Object.entries({
      ...{ host: 'agent', connection: 'Upgrade', upgrade: 'websocket', 'x-api-key': 'key' },
      ...{ 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13', ...headers },
    }).map(([name, value]) => `${name}: ${value}`);
    this.send([`GET ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
  }

  send(text: string): void {
    this.socket.write(text, 'latin1');
  }

  /** Waits for a text, and answers all that has come. */
  heard(pattern: RegExp): Promise<string> {
    return until(
      async () => this.text,
      (text) => pattern.test(text),
    );
  }

  async closed(): Promise<string> {
    await until(
      async () => this.isClosed,
      (isClosed) => isClosed,
    );
    return this.text;
  }

  end(): void {
    this.socket.destroy();
  }

  /** Ends what it sends, and goes on reading. */
  halfEnd(): void {
    this.socket.end();
  }
}

it('a program that uses more memory than its resources allow is started again, and the reason is told', async () => {
  if (process.platform !== 'linux') return;
  const id = await service.deployment();
  const resource_spec = { memory_mb: 10, memory_limit_mb: 20 };
  // The first look may come before it is ready.
  const greedy = { ...overlapping('one'), 'server.js': `${server('one')}\nglobalThis.held = Buffer.alloc(60e6, 1);` };
  await ended(id, await deploy(id, greedy, { resource_spec }));
  const reason = /used (\d+ MB of memory, more|more memory) than its limit of 20 MB/;
  await until(
    async () => JSON.stringify((await service.health(id)).json),
    (said) => reason.test(said),
  );
});

const overlapping = (version: string) => ({ Procfile: 'web: node server.js\n', 'server.js': server(version) });

it('a program has as many processes as its sizes say, also after a change of them, and no more than can run', async () => {
  const id = await service.deployment();
  const scaled = (min_scale: number) => deploy(id, overlapping('one'), { resource_spec: { min_scale } });
  const refused = await scaled(21);
  expect(await ended(id, refused)).toBe('DEPLOY_FAILED');
  const { json } = await service.logs(`${id}/revisions/${refused}/deploy_logs`, { level: 'ERROR' });
  expect(json.logs[0].message).toContain('min_scale is 21, but not more than 20 processes run on this machine');
  await service.reached(id, await scaled(2), 'DEPLOYED');
  const processes = async () => (await service.health(id)).json.processes.map(({ name }: { name: string }) => name);
  expect(await processes()).toEqual(['program-1', 'program-2']);
  for (const min_scale of [3, 1]) {
    await service.append(id, [
      { type: 'DeploymentPatched', data: { source_config: { resource_spec: { min_scale } } } },
    ]);
    await apps.restart(id, new AbortController().signal);
    await until(processes, ({ length }) => length === min_scale);
  }
  expect(await service.call(id, '/')).toMatchObject({ version: 'one' });
});

describe('a WebSocket', () => {
  let id: string;
  beforeAll(async () => {
    id = await service.deployment();
    expect(await ended(id, await deploy(id, overlapping('one')))).toBe('DEPLOYED');
  });

  it('is passed on in both directions, without the key and the cookie of the console', async () => {
    const client = new Client(`/apps/${id}/ws?a=b`, { cookie: 'fairlead-4600=session; mine=1' });
    const said = await client.heard(/\}\n/);
    expect(said).toMatch(/^HTTP\/1\.1 101 .*sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/s);
    const { headers, ...seen } = JSON.parse(said.slice(said.indexOf('{')));
    expect(seen).toEqual({ version: 'one', url: '/ws?a=b' });
    expect(headers).toMatchObject({ cookie: 'mine=1', upgrade: 'websocket' });
    expect(headers).not.toHaveProperty('x-api-key');
    client.send('\x81\x05hello');
    await client.heard(/\x81.hello/);
    client.end();
  });

  it('is refused like any request, and by the program', async () => {
    expect(await new Client(`/apps/${id}/`, { 'x-api-key': 'stranger' }).closed()).toMatch(/^HTTP\/1\.1 404 /);
    expect(await new Client(`/apps/${id}/closed`).closed()).toMatch(/^HTTP\/1\.1 403 .*no$/s);
  });

  it('ends when another revision takes its place, which the next one reaches, and with the deployment', async () => {
    // The text that this program sends first is no frame of WebSockets.
    const before = new Client(`/apps/${id}/deaf`);
    await before.heard(/"version":"one"/);
    expect(await ended(id, await deploy(id, overlapping('two')))).toBe('DEPLOYED');
    await before.closed();
    const after = new Client(`/apps/${id}/`);
    await after.heard(/"version":"two"/);
    await service.append(id, [{ type: 'DeploymentDeletionRequested', data: {} }]);
    await after.closed();
  });
});

it('a deployment has at most 250 WebSockets, and one whose client has gone counts no more', async () => {
  const id = await service.deployment();
  expect(await ended(id, await deploy(id, overlapping('one')))).toBe('DEPLOYED');
  const clients: Client[] = [];
  for (let count = 0; count < 250; count++) {
    const client = new Client(`/apps/${id}/deaf`);
    clients.push(client);
    await client.heard(/^HTTP\/1\.1 101 /);
  }
  expect(await new Client(`/apps/${id}/deaf`).closed()).toMatch(/^HTTP\/1\.1 429 .*250 WebSockets of this deployment/s);
  // The program closes its half never.
  for (const client of clients) client.halfEnd();
  for (const client of clients) await client.closed();
  const next = new Client(`/apps/${id}/deaf`);
  await next.heard(/^HTTP\/1\.1 101 /);
  next.end();
});

describe.each([
  ['a program that may overlap', overlapping, {}],
  [
    'a LangGraph server, whose state is handed over',
    (version: string) => ({
      'langgraph.json': '{"graphs":{}}',
      'package.json': '{"devDependencies":{"@langchain/langgraph-cli":"1.0.0"}}',
      'server.js': server(version).replace('process.env.PORT', 'process.argv[process.argv.indexOf("--port") + 1]'),
    }),
    {
      install_command:
        'mkdir -p node_modules/.bin && cp server.js node_modules/.bin/langgraphjs && chmod +x node_modules/.bin/langgraphjs',
    },
  ],
])('%s', (_, files, config) => {
  it('answers every request while a revision is deployed, and while one fails', async () => {
    const id = await service.deployment(config, { BROKEN: 'three' });
    expect(await ended(id, await deploy(id, files('one')))).toBe('DEPLOYED');
    const first = new Traffic(`${url}/apps/${id}/`);
    await until(
      async () => first.answers[0],
      (answer) => answer !== undefined,
    );
    expect(await ended(id, await deploy(id, files('two')))).toBe('DEPLOYED');
    const answers = await first.stop();
    const seen = versions(answers);
    expect([seen[0], seen.at(-1)]).toEqual(['one', 'two']);
    expect([...new Set(seen)]).toEqual(['one', 'two']);

    const second = new Traffic(`${url}/apps/${id}/`);
    const broken = await deploy(id, files('three'));
    expect(await ended(id, broken)).toBe('DEPLOY_FAILED');
    const later = await second.stop();
    expect([...new Set(versions(later))]).toEqual(['two']);
    const { json } = await service.logs(`${id}/revisions/${broken}/deploy_logs`, { level: 'ERROR' });
    expect(json.logs[0].message).toMatch(/ended with exit code 1 before it was ready.*no model in/);
    if ('install_command' in config) {
      // The state was handed over whole: it counts every request, and each of them once.
      const counts = later.map((answer) => (JSON.parse(answer.slice(4)) as { count: number }).count);
      expect(Math.max(...counts)).toBe(answers.length + later.length);
    }
  });
});
