import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import type { Environment, ServiceName } from '../settings/settings';

const ROOT = resolve(__dirname, '../../../..');
/** The whole address: what a process writes comes in pieces. */
const LISTENS = /(?:listens|is ready) at http:\/\/127\.0\.0\.1:(\d+)\s/;
const TYPESCRIPT = ['-r', join(ROOT, 'tools/test/typescript.cjs')];

/** A service in a process of its own, run from the sources. It ends with this process. */
export class ServiceProcess<Name extends ServiceName | 'standalone' = ServiceName> {
  private child: ChildProcess | undefined;
  private port = '0';

  constructor(
    readonly name: Name,
    private readonly env: Environment,
    /** Modules that are loaded before the service. */
    private readonly preload: readonly string[] = [],
  ) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Resolves when the process listens, on its former port if it had one. @throws Error with its output when it ends */
  async start(): Promise<void> {
    const { PATH } = process.env;
    const child = fork(join(ROOT, 'apps', this.name, 'src/main.ts'), {
      env: { PATH, ...this.env, HOST: '127.0.0.1', PORT: this.port },
      execArgv: [...TYPESCRIPT, ...this.preload.flatMap((file) => ['-r', file])],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.child = child;
    let said = '';
    for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (data: Buffer) => (said += data.toString()));
    await new Promise<void>((listening, reject) => {
      child.stdout!.on('data', () => LISTENS.test(said) && listening());
      child.once('exit', (code, signal) => reject(new Error(`${this.name} ended with ${code ?? signal}: ${said}`)));
    });
    this.port = LISTENS.exec(said)![1]!;
  }

  /** Calls `take` with each message that the process sends. */
  onMessage(take: (message: unknown) => void): void {
    this.child!.on('message', take);
  }

  /** Resolves when the process has ended. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill(signal);
    await exit;
  }
}
