import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { StartProblem } from '@fairlead/service';

/** Pause before a process that ended is started again: doubled with each end, until one is ready. */
const BACKOFF_MS = { first: 250, most: 10_000 };
/** A process that does not stop in this time is ended. */
const STOP_MS = 20_000;

interface ReplicaOptions {
  readonly name: string;
  readonly launch: () => ChildProcess;
  /** Resolves when the process does its work; rejects when `gone` aborts. */
  readonly ready: (gone: AbortSignal) => Promise<void>;
  /** Hears what it writes, line by line, and what becomes of it. */
  readonly say: (line: string) => void;
}

/** One process of a cluster: whenever it ends before it is told to, it is started again. */
export class Replica {
  private child: ChildProcess | undefined;
  /** Changes when it is told to stop or to restart: what was to start it again until then has nothing to do any more. */
  private life = 0;
  private pause = BACKOFF_MS.first;
  private readonly stopping = new AbortController();

  constructor(private readonly options: ReplicaOptions) {}

  get name(): string {
    return this.options.name;
  }

  /** Id of the process that runs now. */
  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** Starts it; resolves when it is ready. @throws StartProblem when it ends before that. */
  async start(): Promise<void> {
    const { life } = this;
    const child = this.options.launch();
    this.child = child;
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface(stream).on('line', (line) => this.options.say(line));
    }
    const gone = new AbortController();
    child.once('exit', () => gone.abort());
    try {
      await this.options.ready(gone.signal);
    } catch (error) {
      throw new StartProblem(`${this.name} ended before it was ready; what it wrote above says why.`, { cause: error });
    }
    this.pause = BACKOFF_MS.first;
    if (gone.signal.aborted) void this.revive(life);
    else child.once('exit', () => void this.revive(life));
  }

  /**
   * Lets it finish what it does, and starts a new one once it is its turn. @throws Error when that one ends before it is
   * ready.
   */
  async restart(turn: Promise<void> = Promise.resolve()): Promise<void> {
    const life = ++this.life;
    await this.quit();
    await turn;
    if (this.stopping.signal.aborted) return;
    try {
      await this.start();
    } catch (error) {
      void this.revive(life);
      throw error;
    }
  }

  /** Lets it finish what it does, and resolves when it is gone for good. */
  async stop(): Promise<void> {
    this.life++;
    this.stopping.abort();
    await this.quit();
  }

  private async quit(): Promise<void> {
    const { child } = this;
    if (!child || hasEnded(child)) return;
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await exit;
    clearTimeout(timer);
  }

  private async revive(life: number): Promise<void> {
    for (let running = false; life === this.life && !running;) {
      const { exitCode, signalCode } = this.child!;
      this.options.say(`It ended (${signalCode ?? exitCode}) and is started again.`);
      await delay(this.pause, undefined, { signal: this.stopping.signal }).catch(() => undefined);
      this.pause = Math.min(this.pause * 2, BACKOFF_MS.most);
      if (life !== this.life) return;
      running = await this.start().then(
        () => true,
        () => false,
      );
    }
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
