import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { json } from 'node:stream/consumers';
import { join } from 'node:path';

const KEY = 'bench-admin-key-0123456789';
const CHECKOUT = join(__dirname, '../../..');
const ENTRY = 'apps/standalone/dist/main.js';

/**
 * As `npm start` runs it: a large nursery, since most of what a request allocates is garbage when it has been answered,
 * and room beside the program itself, since buffers of sockets count as growth and would have all of it traced again.
 */
export const FLAGS = ['--min-semi-space-size=16', '--max-semi-space-size=64', '--initial-old-space-size=192'];

/** Fairlead as a process of its own, on a given database. */
export class BenchServer {
  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
  ) {}

  /**
   * Starts a server whose log is in the database, or at `eventStoreUrl`. `settings` are further environment variables,
   * `checkout` is the folder of another version that has been built.
   */
  static async start(
    databaseUrl: string,
    dataDir: string,
    eventStoreUrl = '',
    settings: Readonly<Record<string, string>> = {},
    checkout = CHECKOUT,
  ): Promise<BenchServer> {
    const port = await freePort();
    const stores = { DATABASE_URL: databaseUrl, FAIRLEAD_DATA_DIR: dataDir, EVENTSTORE_URL: eventStoreUrl };
    const env = { ...process.env, ...settings, ...stores, PORT: String(port) };
    const child = spawn(process.execPath, [...process.execArgv, ...FLAGS, join(checkout, ENTRY)], {
      env: { ...env, FAIRLEAD_API_KEY: KEY, LOG_LEVEL: 'error', EXECUTOR: 'record' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    // Its greeting tells nothing about a figure; an error in its log does.
    createInterface({ input: child.stdout }).on('line', (line) => line.startsWith('{') && console.error(line));
    const server = new BenchServer(`http://127.0.0.1:${port}`, child);
    for (;;) {
      if (child.exitCode !== null) throw new Error(`The server ended with code ${child.exitCode}.`);
      const ready = await fetch(`${server.url}/health/ready`).catch(() => undefined);
      if (ready?.ok) return server;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  readonly headers = { 'x-api-key': KEY, 'content-type': 'application/json' };

  /** Sends JSON and answers the parsed answer. @throws Error for any status but 2xx */
  async send<T>(method: string, path: string, body?: object): Promise<T> {
    const text = body && JSON.stringify(body);
    const answer = await fetch(this.url + path, { method, headers: this.headers, body: text });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  /** The sum of a metric of the process over all its labels. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.url}/metrics`, { headers: this.headers })).text();
    const lines = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }

  /** POSTs a body as it is; `fetch` would copy it on cores that the server needs. @throws Error for any status but 2xx */
  post<T>(path: string, body: Buffer): Promise<T> {
    const headers = { ...this.headers, 'content-length': body.length };
    return new Promise((resolve, reject) => {
      const sending = request(this.url + path, { method: 'POST', headers }, (answer) => {
        const { statusCode = 0 } = answer;
        if (statusCode < 300) json(answer).then((value) => resolve(value as T), reject);
        else reject(new Error(`POST ${path}: ${statusCode}`));
      });
      sending.on('error', reject).end(body);
    });
  }

  /** Resident memory of the process now, in megabytes. */
  residentMegabytes(): number {
    const status = readFileSync(`/proc/${this.child.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024;
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGTERM');
    await ended;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => {
        resolve(port);
      });
    });
  });
}
