import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { ExecutorUnreachable, StepFailed } from '../executors/executor';
import type { ProcessHealth } from '../health/health.answers.schema';
import type { AppFolder, StartedRevision } from './app-folders.store';
import type { AppLogs, StreamLevel } from './app-logs.store';
import type { GroupUse } from './process-use.watch';
import { freePort, untilReady } from './readiness.watch';

export interface RunLimits {
  /** Milliseconds until a program must be ready. */
  readonly ready: number;
  /**
   * Milliseconds for which a request waits while a program starts, and a program for its requests before it is stopped:
   * half of them while others wait for the next one.
   */
  readonly hold: number;
  /** First and longest pause before a program that ended is started again (ms). */
  readonly restart: { readonly first: number; readonly most: number };
}

/** A program that was started. */
export interface RunningProgram {
  /** How it ended, in words for a sentence, once what it wrote has been told; never rejects. */
  readonly ended: Promise<string>;
  /** What it used at the last look; undefined before the first one, and where the system does not show it. */
  readonly use: GroupUse | undefined;
  /** Whether it was ended because it wrote too much to files, as it will again. */
  readonly isFull?: boolean;
  /** Tells it to end, and ends it when it does not. */
  stop(): Promise<void>;
}

/** A revision with all that its program needs. */
export interface Runnable {
  readonly revision: StartedRevision;
  readonly folder: AppFolder;
  /** Closes a port to others; answers what opens it again. */
  readonly guard: (port: number) => Promise<() => void>;
  /** To be called for each process of it. */
  readonly launch: () => Launch;
  /** Starts it with an environment at a port of this machine, and tells what it writes. @throws StepFailed */
  readonly run: (
    env: Readonly<Record<string, string>>,
    port: number,
    told: (stream: StreamLevel, text: string) => void,
  ) => Promise<RunningProgram>;
}

/** What one process of a program is given. */
interface Launch {
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  /** To be called when the process has ended. */
  readonly ended: () => void;
}

/** The program of a deployment does not answer now; the message is a sentence. */
export class AppUnavailable extends ExecutorUnreachable {}

/** What a program says of itself. */
export type AppStatus = 'READY' | 'UNKNOWN' | 'UNUSED';

/** A request that a program works on. */
export interface Entered {
  readonly port: number;
  /** To be called when the request has ended. */
  readonly end: () => void;
  /**
   * Ends the request, but not its connection, as for a WebSocket: nothing waits for it, and `close` is called before the
   * program is stopped. Answers what is to be called when the connection has ended.
   */
  readonly outlive: (close: () => void) => () => void;
}

/** Failures in a row after which requests no longer wait for a program. */
const HOPELESS = 3;
/** Folder in which the LangGraph server for development keeps its threads. */
const LANGGRAPH_STATE = '.langgraph_api';

/** A program that is ready. */
class Serving {
  readonly since = Date.now();
  private requests = 0;
  private readonly connections = new Set<() => void>();
  private idle: () => void = () => undefined;

  constructor(
    readonly process: RunningProgram,
    readonly port: number,
    readonly revision: StartedRevision,
  ) {}

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

  /** Stops it once its requests have ended, or after `most` milliseconds. */
  async retire(most: number): Promise<void> {
    this.disconnect();
    const idle = new Promise<void>((resolve) => (this.idle = resolve));
    if (this.requests > 0) await Promise.race([idle, delay(most, undefined, { ref: false })]);
    await this.stop();
  }

  async stop(): Promise<void> {
    this.disconnect();
    await this.process.stop();
  }

  /** Their clients connect again, to what takes its place. */
  private disconnect(): void {
    for (const close of this.connections) close();
  }
}

/** Runs the program of one deployment: which process serves, and what happens when it ends. */
export class AppRunner {
  /** Why the program ended or did not start the last time. */
  private lastError: string | null = null;
  /** What serves once it is ready; undefined while nobody has asked for it. It answers undefined when nothing is to run. */
  private serving: Promise<Serving | undefined> | undefined;
  private running: Serving | undefined;
  /** Aborts what is being started. */
  private life = new AbortController();
  private failures = 0;
  private restarts = 0;
  /** What was told last. */
  private told: AppStatus | undefined;
  private stopped: boolean;
  private uses = 0;
  private lastUse = Date.now();
  /** Whether it may start although it does not yet. */
  private isAdmitted = false;
  /** Resolves when the process that was put to sleep has ended. */
  private resting: Promise<unknown> = Promise.resolve();
  private turn: Promise<unknown> = Promise.resolve();

  /**
   * `next` answers what is to run now; undefined when that is nothing. `tell` is called when the program has become
   * ready, does not come back, or sleeps.
   */
  constructor(
    private readonly limits: RunLimits,
    readonly logs: AppLogs,
    private readonly next: () => Promise<Runnable | undefined>,
    private readonly tell: (status: AppStatus, reason?: string) => void,
    stopped = false,
  ) {
    this.stopped = stopped;
  }

  get isStopped(): boolean {
    return this.stopped;
  }

  /** Whether it takes memory: it runs, is being started, or will be at once. */
  get isAwake(): boolean {
    return this.isAdmitted || this.serving !== undefined || this.running !== undefined;
  }

  /** Since when nobody has used what runs (ms since 1970); undefined while somebody does, and when nothing runs. */
  get idleSince(): number | undefined {
    return this.isAwake && !this.stopped && this.uses === 0 ? this.lastUse : undefined;
  }

  /** Lets it start, as long as it is used. */
  admit(): void {
    this.isAdmitted = true;
  }

  /** Notes that it is used until the function is called that is given back. It does not sleep meanwhile. */
  use(): () => void {
    this.uses++;
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      this.lastUse = Date.now();
      if (--this.uses === 0) this.isAdmitted = false;
    };
  }

  /** A request to what serves, which is started when nothing does. @throws AppUnavailable when `late` aborts before */
  async enter(late: AbortSignal): Promise<Entered> {
    const passed = new Promise<undefined>((resolve) => late.addEventListener('abort', () => resolve(undefined)));
    for (;;) {
      if (this.stopped) throw new AppUnavailable('It was stopped.');
      if (this.failures >= HOPELESS && !this.running) throw this.unavailable();
      const expected = (this.serving ??= this.start());
      const serving = await Promise.race([expected, passed]);
      if (late.aborted) throw this.unavailable();
      // Another one may have taken its place meanwhile.
      if (expected !== this.serving) continue;
      if (serving) return serving.begin();
      this.serving = undefined;
      throw this.unavailable();
    }
  }

  /**
   * Puts a program in the place of the one that runs, when it has become ready. Programs overlap, except those that keep
   * threads in files: two of them would lose each other's, so that requests wait while one follows the other.
   * @throws StepFailed when it does not become ready; the one before runs on.
   */
  replace(program: Runnable, signal: AbortSignal): Promise<void> {
    return this.inTurn(async () => {
      const { running, stopped } = this;
      const { build, recipe } = program.revision;
      const alive = () => AbortSignal.any([signal, this.life.signal]);
      this.stopped = false;
      try {
        if (running && !recipe.langgraph) {
          const serving = await this.ready(program, alive());
          // The one before may have ended meanwhile, and be back or on its way back.
          const { running: old, serving: before } = this;
          this.take(serving);
          this.begin();
          await before;
          await old?.retire(this.limits.hold);
          return;
        }
        if (running && running.revision.build !== build) await this.prove(program, alive());
        await this.follow(() => this.ready(program, alive()));
      } catch (error) {
        this.stopped ||= stopped;
        throw error;
      }
    });
  }

  /** Ends the program and starts it again; requests wait meanwhile. @throws StepFailed when it does not become ready */
  restart(signal: AbortSignal): Promise<void> {
    return this.inTurn(async () => {
      this.stopped = false;
      const program = await this.next();
      if (program) await this.follow(() => this.ready(program, AbortSignal.any([signal, this.life.signal])));
    });
  }

  /** Ends the program, which stays so until it is started again. Requests are refused meanwhile. */
  stop(): Promise<void> {
    this.stopped = true;
    this.life.abort(new ExecutorUnreachable('The program was stopped.'));
    return this.inTurn(async () => {
      const { running } = this;
      this.stopped = true;
      this.running = undefined;
      await this.serving?.catch(() => undefined);
      this.serving = undefined;
      await this.resting;
      await running?.stop();
    });
  }

  /** Ends the program until the next request, which waits until it has ended. */
  async sleep(): Promise<void> {
    const { running, serving } = this;
    this.begin();
    this.running = undefined;
    this.serving = undefined;
    this.resting = Promise.all([serving, running?.stop()]);
    if (this.told !== 'UNKNOWN') this.say('UNUSED', 'Nobody uses it: it sleeps until the next request.');
    await this.resting;
  }

  /** The program as it is now; undefined while it sleeps or is stopped. */
  health(): ProcessHealth | undefined {
    const { running, restarts, lastError: last_error } = this;
    const facts = { name: 'program', restarts, last_error };
    if (running) {
      const { use } = running.process;
      return {
        ...{ ...facts, state: 'RUNNING', reason: null, revision_id: running.revision.revisionId },
        started_at: new Date(running.since).toISOString(),
        memory_bytes: use?.memory_bytes ?? null,
        cpu_cores: use?.cpu_cores ?? null,
      };
    }
    if (this.stopped) return undefined;
    const state = this.failures >= HOPELESS ? 'FAILED' : this.serving ? 'STARTING' : undefined;
    const unknown = { revision_id: null, started_at: null, memory_bytes: null, cpu_cores: null };
    return state && { ...facts, ...unknown, state, reason: last_error };
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.turn.then(work);
    this.turn = done.catch(() => undefined);
    return done;
  }

  /** Shows that a program starts, with an empty folder for its threads. @throws StepFailed */
  private async prove(program: Runnable, signal: AbortSignal): Promise<void> {
    const { process } = await this.ready(program, signal, 'proof');
    await process.stop();
  }

  /** Starts a program after the one that runs has ended, while requests wait. When it fails, the one before is started. */
  private async follow(start: () => Promise<Serving>): Promise<void> {
    const { running, serving: before } = this;
    this.running = undefined;
    this.begin();
    let settle: (serving: Serving | undefined) => void = () => undefined;
    const held = new Promise<Serving | undefined>((resolve) => (settle = resolve));
    this.serving = held;
    try {
      // What was being started has the folder until it has ended.
      await before;
      // A request that does not end must not take all the time that those who wait have.
      await running?.retire(this.limits.hold / 2);
      const serving = await start();
      this.take(serving, held);
      settle(serving);
    } catch (error) {
      this.serving = running ? this.start() : undefined;
      settle(undefined);
      throw error;
    }
  }

  /** Begins anew: what is being started is given up. */
  private begin(): void {
    this.life.abort();
    this.life = new AbortController();
    this.failures = 0;
  }

  private take(serving: Serving, promise: Promise<Serving | undefined> = Promise.resolve(serving)): void {
    this.serving = promise;
    this.running = serving;
    this.say('READY');
    void serving.process.ended.then((how) => {
      if (this.running !== serving) return;
      this.running = undefined;
      this.lastError = `The program ${how}.`;
      const { isFull = false } = serving.process;
      // One that has run for a while does not crash all the time.
      if (Date.now() - serving.since > this.limits.restart.most && !isFull) this.failures = 0;
      this.fail();
      const isOver = isFull && this.failures >= HOPELESS;
      this.logs.say(`${this.lastError} ${isOver ? 'It is not started again by itself.' : 'It is started again.'}`);
      if (isOver) return void (this.serving = undefined);
      this.restarts++;
      this.serving = this.start();
    });
  }

  /** Starts what is to run now, after a pause that grows with every failure. */
  private async start(): Promise<Serving | undefined> {
    const { signal } = this.life;
    const { first, most } = this.limits.restart;
    for (;;) {
      const pause = this.failures === 0 ? 0 : Math.min(most, first * 2 ** Math.min(this.failures - 1, 20));
      await delay(pause, undefined, { ref: false, signal }).catch(() => undefined);
      if (signal.aborted) return undefined;
      try {
        const program = await this.next();
        // Who puts it to sleep waits until this has ended, and what is made ready would wait for that.
        if (!program || signal.aborted) return undefined;
        const serving = await this.ready(program, signal);
        if (signal.aborted) {
          await serving.stop();
          return undefined;
        }
        this.take(serving);
        return serving;
      } catch (error) {
        if (signal.aborted) return undefined;
        this.lastError = (error as Error).message;
        if (!(error instanceof ExecutorUnreachable)) {
          this.fail();
          continue;
        }
        // It is no fault of the program: requests wait until its engine is back, and the next one tries again.
        if (this.uses === 0) return void (this.serving = undefined);
        await delay(first, undefined, { ref: false, signal }).catch(() => undefined);
      }
    }
  }

  private fail(): void {
    this.failures++;
    if (this.failures >= HOPELESS) this.say('UNKNOWN', this.lastError ?? undefined);
  }

  private say(status: AppStatus, reason?: string): void {
    if (this.told === status) return;
    this.told = status;
    this.tell(status, reason);
  }

  /** A program that is ready. @throws StepFailed with its last lines; the reason of `signal` when that aborts */
  private async ready(
    { revision, folder, guard, launch, run }: Runnable,
    signal: AbortSignal,
    state: 'state' | 'proof' = 'state',
  ): Promise<Serving> {
    await this.resting;
    const { recipe } = revision;
    const cwd = join(folder.build(revision.build), recipe.folder);
    if (recipe.langgraph) await folder.useState(join(cwd, LANGGRAPH_STATE), state);
    const port = await freePort();
    signal.throwIfAborted();
    const open = await guard(port);
    const { env, secrets, ended } = launch();
    const output = this.logs.output(secrets);
    const over = () => {
      output.end();
      open();
      ended();
    };
    const process = await run(env, port, (stream, text) => output.write(stream, text)).catch((error: unknown) => {
      over();
      throw error;
    });
    void process.ended.then(over);
    const late = AbortSignal.any([signal, AbortSignal.timeout(this.limits.ready)]);
    const said = () => lastLines(output.last, cwd);
    const isReady = untilReady(port, recipe.health, late, isReadyAt(revision)).then(() => undefined);
    isReady.catch(() => undefined);
    try {
      const how = await Promise.race([process.ended, isReady]);
      signal.throwIfAborted();
      if (how !== undefined) throw new StepFailed(`The program ${how} before it was ready.${said()}`);
      return new Serving(process, port, revision);
    } catch (error) {
      await process.stop();
      signal.throwIfAborted();
      if (error instanceof StepFailed) throw error;
      throw new StepFailed(`The program was not ready within ${this.limits.ready / 1000} s.${said()}`);
    }
  }

  private unavailable(): AppUnavailable {
    return new AppUnavailable(this.lastError ?? 'It did not become ready.');
  }
}

/** Which statuses at its health path say that it is ready. A container may lack the path: any below 500 will do. */
function isReadyAt({ image }: StartedRevision): (status: number) => boolean {
  return (status) => (image ? status < 500 : status === 200);
}

/**
 * Lines that are told to whoever asks for the program, without colours and the path of its folder, which would leave less
 * room for the cause.
 */
function lastLines(last: readonly string[], folder: string): string {
  const lines = last.map((line) => stripVTControlCharacters(line).replaceAll(`${folder}/`, ''));
  return lines.length > 0 ? ` Its last lines: ${lines.join(' | ').slice(-2000)}` : ' It wrote nothing.';
}
