import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@fairlead/postgres/testing';

const ROOT = join(__dirname, '../../../..');
const TYPESCRIPT = join(ROOT, 'tools/test/typescript.cjs');

/** A cluster starts many processes. */
const START_MS = 600_000;

type Environment = Readonly<Record<string, string>>;

/** A process and what it has written so far. */
interface Launched {
  readonly process: ChildProcess;
  readonly output: () => string;
  readonly errors: () => string;
}

/** A process that answers requests at `url`. */
export interface Service extends Launched {
  readonly url: string;
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string[];
}

/** A directory for one test: services run on data directories below it, `data` when they name none. */
export class Home {
  readonly path = mkdtempSync(join(tmpdir(), 'fairlead-standalone-'));
  private readonly processes: ChildProcess[] = [];

  /** `app` is a folder of `apps` that starts like the service. */
  constructor(
    private readonly app: 'standalone' | 'cluster' = 'standalone',
    private readonly args: readonly string[] = [],
    /** Runs what has been built, not the sources. */
    private readonly built = false,
  ) {}

  /** Starts the service on a free port with the executor `record`, unless `env` says otherwise. */
  launch(env: Environment = {}): Launched {
    const { PATH } = process.env;
    const folder = join(ROOT, 'apps', this.app);
    const main = this.built ? [join(folder, 'dist/main.js')] : ['-r', TYPESCRIPT, join(folder, 'src/main.ts')];
    const child = spawn(process.execPath, [...main, ...this.args], {
      env: { PATH, PORT: '0', FAIRLEAD_DATA_DIR: this.data(), LOG_LEVEL: 'error', EXECUTOR: 'record', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.processes.push(child);
    let [output, errors] = ['', ''];
    child.stdout.on('data', (data: Buffer) => (output += data.toString()));
    child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
    return { process: child, output: () => output, errors: () => errors };
  }

  /** As `launch`; resolves when the service is ready. */
  async start(env: Environment = {}): Promise<Service> {
    const launched = this.launch(env);
    const { process: child, output, errors } = launched;
    const look = () => {
      if (hasEnded(child)) throw new Error(`It ended with ${child.exitCode ?? child.signalCode}: ${errors()}`);
      return (output() + errors()).slice(-4000);
    };
    await until(look, () => output().includes('List the deployments'), START_MS);
    return { ...launched, url: /ready at (\S+)/.exec(output())?.[1] ?? '' };
  }

  /** As `launch`; resolves when the process has ended. */
  async run(env: Environment): Promise<Ended> {
    const { process: child, output, errors } = this.launch(env);
    await once(child, 'close');
    return { code: child.exitCode, output: output(), errors: errors().split('\n').filter(Boolean) };
  }

  data(name = 'data'): string {
    return join(this.path, name);
  }

  /** The admin key in a data directory. */
  key(name?: string): string {
    return readFileSync(join(this.data(name), 'api-key'), 'utf8').trim();
  }

  /** The PostgreSQL of a data directory; 0 when there is none. */
  postgresPid(name?: string): number {
    return Number(this.postmaster(name)[0] ?? 0);
  }

  /** Address of the database in a data directory. */
  databaseUrl(name?: string): string {
    const password = readFileSync(join(this.data(name), 'postgres/password'), 'utf8').trim();
    return `postgres://postgres:${password}@127.0.0.1:${this.postmaster(name)[3]}/postgres`;
  }

  /** Ends everything that was started and removes the directory. */
  async end(): Promise<void> {
    for (const child of this.processes) await killed(child);
    for (const name of readdirSync(this.path)) {
      const pid = this.postgresPid(name);
      if (pid === 0 || !isRunning(pid)) continue;
      process.kill(pid, 'SIGINT');
      await until(() => !isRunning(pid));
    }
    rmSync(this.path, { recursive: true, force: true });
  }

  private postmaster(name?: string): string[] {
    const file = join(this.data(name), 'postgres/cluster/postmaster.pid');
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  }
}

/** Kills a process that is still there, and resolves when it is gone. */
export async function killed(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

export function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}
