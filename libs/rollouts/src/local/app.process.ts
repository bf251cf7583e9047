import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { WATCHED, within } from '../executors/child.process';
import type { AppLogLevel } from './app-logs.store';

/** How long a program has to end by itself after it was told to. */
const GRACE_MS = 5000;
/** How long its output is read after its end; something that it left running may hold that open. */
const DRAIN_MS = 2000;
const POLL_MS = 20;

/** The user that a program runs as; its own when the server is not root. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

interface Program {
  readonly words: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user?: User;
}

/** A process of a program, as the system counts it. */
interface ProcessUse {
  readonly pid: number;
  readonly memory_bytes: number;
  /** Processor time since it was started. */
  readonly cpu_seconds: number;
}

/** Size of a page of memory and length of a tick of processor time, as Linux counts them. */
const PAGE_BYTES = 4096;
const TICKS_PER_SECOND = 100;

/** A program in a process group of its own, which ends with the server. */
export class AppProcess {
  /** How it ended, in words for a sentence, once what it wrote has been told; never rejects. */
  readonly ended: Promise<string>;
  private readonly child: ChildProcess;
  private isOver = false;
  private isStopping = false;

  constructor({ words, cwd, env, user }: Program, told: (level: AppLogLevel, text: string) => void) {
    this.child = spawn(WATCHED[0]!, [...WATCHED.slice(1), ...within(cwd, words)], {
      cwd: '/',
      env,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      ...user,
    });
    const { stdin, stdout, stderr } = this.child;
    stdin!.on('error', () => undefined);
    for (const [stream, level] of [
      [stdout!, 'INFO'],
      [stderr!, 'WARNING'],
    ] as const) {
      stream.setEncoding('utf8');
      stream.on('data', (text: string) => told(level, text));
      stream.on('error', () => undefined);
    }
    this.ended = new Promise((resolve) => {
      this.child.once('error', (error: NodeJS.ErrnoException) => {
        this.isOver = true;
        resolve(`cannot be started (${error.code ?? error.message})`);
      });
      this.child.once('exit', (code, killed) => {
        this.isOver = true;
        if (!this.isStopping) this.signal('SIGKILL');
        const how = `ended with ${killed ?? `exit code ${code}`}`;
        this.child.once('close', () => resolve(how));
        setTimeout(() => [stdout!, stderr!].forEach((stream) => stream.destroy()), DRAIN_MS).unref();
      });
    });
  }

  /** The processes of its group; none where the system does not show them. */
  use(): ProcessUse[] {
    const { pid: group } = this.child;
    return group === undefined ? [] : processIds().flatMap((pid) => useOf(pid, group) ?? []);
  }

  /** Tells all of its group to end, and kills what is left after five seconds: a child may write files at its end. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.signal('SIGTERM');
    const end = Date.now() + GRACE_MS;
    while (Date.now() < end && (!this.isOver || this.use().length > 0)) {
      await delay(POLL_MS);
    }
    this.signal('SIGKILL');
    await this.ended;
  }

  private signal(signal: NodeJS.Signals): void {
    if (this.child.pid === undefined) return;
    try {
      process.kill(-this.child.pid, signal);
    } catch {
      // Nothing of the group is left.
    }
  }
}

function processIds(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/** What a process uses; undefined when it is not of the group or has ended, as one that nobody has waited for. */
function useOf(pid: number, group: number): ProcessUse | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may hold spaces.
    const words = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const fields = words.map(Number);
    if (fields[2] !== group || words[0] === 'Z') return undefined;
    const ticks = fields[11]! + fields[12]!;
    return { pid, memory_bytes: fields[21]! * PAGE_BYTES, cpu_seconds: ticks / TICKS_PER_SECOND };
  } catch {
    return undefined;
  }
}
