import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

const KEY = 'bench-admin-key-0123456789';
const ENTRY = join(__dirname, '../../../apps/standalone/dist/main.js');

/** Fairlead as a process of its own, on a given database. */
export class BenchServer {
  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
  ) {}

  static async start(databaseUrl: string, dataDir: string): Promise<BenchServer> {
    const port = await freePort();
    const env = { ...process.env, PORT: String(port), DATABASE_URL: databaseUrl, FAIRLEAD_DATA_DIR: dataDir };
    const child = spawn(process.execPath, [...process.execArgv, ENTRY], {
      env: { ...env, FAIRLEAD_API_KEY: KEY, LOG_LEVEL: 'error' },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const server = new BenchServer(`http://127.0.0.1:${port}`, child);
    for (;;) {
      if (child.exitCode !== null) throw new Error(`The server ended with code ${child.exitCode}.`);
      const ready = await fetch(`${server.url}/health/ready`).catch(() => undefined);
      if (ready?.ok) return server;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  readonly headers = { 'x-api-key': KEY, 'content-type': 'application/json' };

  /** Sends JSON (or a body as it is) and answers the parsed answer. @throws Error for any status but 2xx */
  async send<T>(method: string, path: string, body?: object | Buffer): Promise<T> {
    const text = body === undefined || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const answer = await fetch(this.url + path, { method, headers: this.headers, body: text });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
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
