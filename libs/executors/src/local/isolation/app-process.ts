import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { GATE, WATCHED } from '../../command/child-process';
import type { LineLevel } from '../../port/line-level';
import { megabytes } from './app-sizes';
import { ControlGroup } from './control-groups.client';
import type { User } from './process-namespaces.client';
import {
  type Endpoint,
  type GroupUse,
  isAlive,
  isRunning,
  kill,
  listeners,
  listeningOf,
  useWatch,
} from './process-use.client';

/** Level of a line that does not tell its own: `WARNING` on standard error, `INFO` on standard output. */
export type StreamLevel = Extract<LineLevel, 'INFO' | 'WARNING'>;

/** Takes what a program writes. The program waits while a promise that is returned is pending; none rejects. */
export type TakeLevel = (stream: StreamLevel, text: string) => unknown;

export interface RunningProgram {
  /** Resolves with its end, in words for a sentence, once its output has been passed on; never rejects. */
  readonly ended: Promise<string>;
  /** Null until it has ended, and where that is not known. */
  readonly exitCode?: number | null;
  /**
   * Resources that it used at the last look; undefined before the first one, and where the system does not show them.
   */
  readonly use: GroupUse | undefined;
  /** True when it was ended because it wrote too much to files, as it will again. */
  readonly isFull?: boolean;
  /** Where it listens; undefined, as the whole method is, where that cannot be found out. */
  listening?(): Endpoint[] | undefined;
  /** Tells it to end, and ends it when it does not. `why` is how it has ended then, in words for a sentence. */
  stop(why?: string): Promise<void>;
}

/** Time that a program has to end by itself after it was told to. */
const GRACE_MS = 5000;
/** Time for which its output is read after its end; something that it left running may hold that open. */
const DRAIN_MS = 2000;
const POLL_MS = 20;
/** Added to the number of a signal, as shells do: the exit code of what it has ended. */
const SIGNALLED = 128;
/** Characters of a stream that are read in a second: a program that writes more waits. */
const READ_RATE = 4 * 1024 ** 2;

interface Program {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly user?: User;
  readonly port?: number;
  readonly memory?: number;
  readonly limit?: (pid: number) => ControlGroup;
}

/** A program in a process group of its own, which ends with the server. */
export class AppProcess implements RunningProgram {
  readonly ended: Promise<string>;
  use: GroupUse | undefined;
  exitCode: number | null = null;
  private readonly child: ChildProcess;
  private readonly port: number | undefined;
  private why: string | undefined;
  private isOver = false;
  /** Resolves when nothing of it is left; undefined while nobody stops it. */
  private stopping: Promise<void> | undefined;
  /** Holds what has left the process group, too. */
  private readonly group: ControlGroup;
  private hasToldRefusal = false;
  private taking = 0;

  constructor(
    { words, env, user, port, memory, limit }: Program,
    private readonly told: TakeLevel,
  ) {
    const [command, ...args] = [...GATE, ...WATCHED, ...words];
    this.child = spawn(command!, args, {
      cwd: '/',
      env,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      ...user,
    });
    // Without streams, when the server has too many files open, what follows throws before anything else takes this.
    this.child.on('error', () => undefined);
    this.port = port;
    const { stdin, stdout, stderr } = this.child;
    stdin!.on('error', () => undefined);
    for (const [stream, level] of [
      [stdout!, 'INFO'],
      [stderr!, 'WARNING'],
    ] as const) {
      readSlowly(stream.setEncoding('utf8'), (text) => this.take(level, text));
      stream.on('error', () => undefined);
    }
    const { pid } = this.child;
    this.group = (pid !== undefined && limit?.(pid)) || new ControlGroup();
    stdin!.write('\n');
    const unfollow = pid === undefined ? () => undefined : useWatch.follow(pid, (use) => this.look(use, memory));
    const ended = new Promise<string>((resolve) => {
      this.child.once('error', (error: NodeJS.ErrnoException) => {
        this.isOver = true;
        resolve(`cannot be started (${error.code ?? error.message})`);
      });
      this.child.once('exit', (code, killed) => {
        this.isOver = true;
        if (!this.stopping) this.exitCode = code ?? SIGNALLED + constants.signals[killed!];
        unfollow();
        if (!this.stopping) this.signal('SIGKILL');
        const how = this.why ?? this.group.explain(`ended with ${killed ?? `exit code ${code}`}`);
        this.child.once('close', () => resolve(how));
        const cut = () => {
          if (this.taking > 0 && !this.stopping) setTimeout(cut, DRAIN_MS).unref();
          else [stdout!, stderr!].forEach((stream) => stream.destroy());
        };
        setTimeout(cut, DRAIN_MS).unref();
      });
    });
    this.ended = ended.then(async (how) => {
      await (this.stopping ?? this.group.end());
      return how;
    });
  }

  listening(): Endpoint[] | undefined {
    return this.child.pid === undefined ? undefined : listeningOf(this.child.pid);
  }

  /**
   * Tells the server to end, then all of its group, and kills what is left after five seconds: they may write files at
   * their end. Who started the server passes signals on to it, and a second one would end it while it writes.
   */
  async stop(why?: string): Promise<void> {
    if (!this.stopping) this.why = why;
    this.stopping ??= this.finish();
    await this.ended;
  }

  private async finish(): Promise<void> {
    const end = Date.now() + GRACE_MS;
    const { port } = this;
    const [server, ...others] = this.isOver || port === undefined ? [] : listeners(this.child.pid!, port);
    if (server !== undefined && others.length === 0) {
      kill(server, 'SIGTERM');
      while (Date.now() < end && isRunning(server)) await delay(POLL_MS);
    }
    this.signal('SIGTERM');
    while (Date.now() < end && (!this.isOver || isAlive(this.child.pid!))) {
      await delay(POLL_MS);
    }
    this.signal('SIGKILL');
    // The first process of namespaces is left until all others there have ended.
    while (Date.now() < end + GRACE_MS && this.child.pid !== undefined && isAlive(this.child.pid)) await delay(POLL_MS);
    await this.group.end();
  }

  private look(use: GroupUse, memory = Infinity): void {
    const { group } = this;
    const memory_bytes = group.memory() ?? use.memory_bytes;
    this.use = { ...use, memory_bytes };
    if (this.stopping) return;
    const refused = group.refused();
    if (refused !== undefined && !this.hasToldRefusal) this.told('WARNING', `${refused}\n`);
    this.hasToldRefusal = refused !== undefined;
    const tooMuch = `used ${megabytes(memory_bytes)} MB of memory, more than its limit of ${megabytes(memory)} MB`;
    // One of its processes may be gone while others go on, which wait for it.
    const why = group.killed() ?? (!group.holdsMemory && memory_bytes > memory ? tooMuch : undefined);
    if (why !== undefined) void this.stop(why);
  }

  /** Undefined when what it was given to takes more at once. */
  private take(level: StreamLevel, text: string): Promise<unknown> | undefined {
    const taken = this.told(level, text);
    if (!(taken instanceof Promise)) return undefined;
    this.taking++;
    return taken.then(() => this.taking--);
  }

  private signal(signal: NodeJS.Signals): void {
    if (this.child.pid !== undefined) kill(-this.child.pid, signal);
  }
}

/** Reads a stream no faster than at READ_RATE, and than it is taken. */
function readSlowly(stream: Readable, take: (text: string) => Promise<unknown> | undefined): void {
  const pauseAfter = readPace();
  stream.on('data', (text: string) => {
    const taken = take(text);
    const pause = pauseAfter(text.length);
    if (pause === 0 && !taken) return;
    stream.pause();
    void Promise.all([taken, delay(pause, undefined, { ref: false })]).then(() => stream.resume());
  });
}

/** Answers for each part of a stream, by its length, how long to wait after it (ms), so that READ_RATE is not exceeded. */
export function readPace(): (length: number) => number {
  let budget = READ_RATE;
  let refilled = performance.now();
  return (length) => {
    const now = performance.now();
    budget = Math.min(READ_RATE, budget + ((now - refilled) * READ_RATE) / 1000) - length;
    refilled = now;
    return budget >= 0 ? 0 : (-budget * 1000) / READ_RATE;
  };
}
