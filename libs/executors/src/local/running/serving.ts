import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { TimeLimit } from '@fairlead/schema';
import { causeIn } from '../../output/cause';
import { StepFailed } from '../../port/executor';
import type { AppFolder, StartedRevision } from '../isolation/app-folders.store';
import type { RunningProgram, TakeLevel } from '../isolation/app-process';
import type { AppLogs } from './app-logs';
import { freePort, PortTaken, requireOwner, untilReady } from './readiness.client';
import { portAdvice, waitingFor } from './wanted-port';

export interface Runnable {
  readonly revision: StartedRevision;
  readonly folder: AppFolder;
  readonly scale: number;
  readonly isAlwaysOn: boolean;
  readonly say?: (text: string) => void;
  /** Closes a port to others; answers what opens it again. */
  readonly guard: (port: number) => Promise<() => void>;
  readonly launch: () => Launch;
  /** Starts it at a port of this machine, or a command in its place, and tells what that writes. @throws StepFailed */
  readonly run: (
    env: Readonly<Record<string, string>>,
    what: { readonly port?: number; readonly command?: readonly string[] },
    told: TakeLevel,
  ) => Promise<RunningProgram>;
}

interface Launch {
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  readonly ended: () => void;
}

export interface Entered {
  readonly port: number;
  readonly end: () => void;
  /**
   * Ends the request, but not its connection, as for a WebSocket: nothing waits for it, and `close` is called before the
   * program is stopped. Answers what is to be called when the connection has ended.
   */
  readonly outlive: (close: () => void) => () => void;
}

/** Folder in which the LangGraph server for development keeps its threads. */
const LANGGRAPH_STATE = '.langgraph_api';

const SAY_AFTER_MS = 10_000;

/** Ports at which a process is started, one after the other, while other users take them. */
const MOST_PORTS = 3;

/** A process has not become ready. */
export class NotReady extends StepFailed {
  /** `lastLine`: the last line of the process; empty when it wrote nothing. */
  constructor(
    message: string,
    readonly lastLine: string,
  ) {
    super(message);
  }
}

export class Serving {
  readonly since = Date.now();
  turn = 0;
  /** Why it does not seem to answer; null while it does. */
  trouble: string | null = null;
  private requests = 0;
  private readonly connections = new Set<() => void>();
  private idle: () => void = () => undefined;

  constructor(
    readonly process: RunningProgram,
    readonly port: number,
    readonly revision: StartedRevision,
    private readonly output: { readonly lastLine: string },
  ) {}

  get lastLine(): string {
    return this.output.lastLine;
  }

  /** Requests that it works on, and connections that have outlived theirs. */
  get busy(): number {
    return this.requests + this.connections.size;
  }

  get isWorking(): boolean {
    return this.requests > 0;
  }

  begin(): Entered {
    this.requests++;
    let hasEnded = false;
    const end = () => {
      if (hasEnded) return;
      hasEnded = true;
      if (--this.requests === 0) this.idle();
    };
    const outlive = (close: () => void) => {
      this.connections.add(close);
      end();
      return () => this.connections.delete(close);
    };
    return { port: this.port, end, outlive };
  }

  /** Stops it once its requests have ended, or after `most` milliseconds, or when `hurry` aborts. */
  async retire(most: number, hurry: AbortSignal): Promise<void> {
    this.disconnect();
    const idle = new Promise<void>((resolve) => (this.idle = resolve));
    const late = () => delay(most, undefined, { ref: false, signal: hurry }).catch(() => undefined);
    if (this.requests > 0) await Promise.race([idle, late()]);
    await this.stop();
  }

  async stop(): Promise<void> {
    this.disconnect();
    await this.process.stop();
  }

  /** Closes the connections that have outlived their requests: their clients connect again, to what takes its place. */
  disconnect(): void {
    for (const close of this.connections) close();
  }
}

/**
 * Starts a process of a program, and answers it when it is ready, within `most` milliseconds. Where another user takes its
 * port first, it is started at another one.
 * @throws StepFailed with its last lines; the reason of `signal` when that aborts
 */
export async function startProcess(...start: Parameters<typeof startAtPort>): Promise<Serving> {
  for (let ports = 1; ; ports++) {
    try {
      return await startAtPort(...start);
    } catch (error) {
      if (!(error instanceof PortTaken) || ports === MOST_PORTS) throw error;
    }
  }
}

async function startAtPort(
  { revision, folder, guard, launch, run, say }: Runnable,
  logs: AppLogs,
  most: number,
  signal: AbortSignal,
  state: 'state' | 'preview' | 'proof' = revision.isPreview ? 'preview' : 'state',
): Promise<Serving> {
  const { recipe } = revision;
  const cwd = join(folder.build(revision.build), recipe.folder);
  if (recipe.langgraph) await folder.useState(join(cwd, LANGGRAPH_STATE), state);
  const port = await freePort();
  signal.throwIfAborted();
  const open = await guard(port);
  const { env, secrets, ended } = launch();
  const output = logs.output(secrets);
  const over = () => {
    output.end();
    open();
    ended();
  };
  const process = await run(env, { port }, (stream, text) => output.write(stream, text)).catch((error: unknown) => {
    over();
    throw error;
  });
  void process.ended.then(over);
  const isOver = new AbortController();
  const limit = new TimeLimit(most, signal, isOver.signal);
  const said = () => lastLines(output.last, cwd);
  // The port of a container is open to its engine.
  const owner = revision.image ? undefined : (folder.user?.uid ?? globalThis.process.getuid?.());
  const isReady = untilReady(port, recipe.health, limit.signal, isReadyAt(revision), owner).then(() => undefined);
  isReady.catch(() => undefined);
  const wanted = { port, health: recipe.health, isContainer: revision.image !== undefined };
  const advice = () => portAdvice(wanted, process.listening?.());
  const saying = setTimeout(() => say?.(`${waitingFor(wanted)} ${advice()}`), SAY_AFTER_MS).unref();
  try {
    const how = await Promise.race([process.ended, isReady]);
    signal.throwIfAborted();
    if (how !== undefined) requireOwner(port, owner);
    if (how !== undefined) throw new NotReady(`The program ${how} before it was ready.${said()}`, output.lastLine);
    return new Serving(process, port, revision, output);
  } catch (error) {
    const advised = limit.hasPassed ? advice() : '';
    await process.stop();
    signal.throwIfAborted();
    if (error instanceof StepFailed) throw error;
    throw new NotReady(`The program was not ready within ${most / 1000} s. ${advised}${said()}`, output.lastLine);
  } finally {
    clearTimeout(saying);
    limit.end();
    isOver.abort();
  }
}

/** Which statuses at its health path say that it is ready. A container may lack the path: any below 500 will do. */
function isReadyAt({ image }: StartedRevision): (status: number) => boolean {
  return (status) => (image ? status < 500 : status === 200);
}

/**
 * Lines that are told to whoever asks for the program, from the cause on, without the path of its folder, which would
 * leave less room for them.
 */
function lastLines(last: readonly string[], folder: string): string {
  const told = causeIn(last.map((line) => line.replaceAll(`${folder}/`, '')));
  return told === '' ? ' It wrote nothing.' : ` Its last lines: ${told}`;
}
