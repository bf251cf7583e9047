import { EventEmitter, once } from 'node:events';
import { ExecutorUnreachable } from '../../port/executor';
import type { ProcessHealth } from '../../port/process-health.schema';
import type { StartedRevision } from '../isolation/app-folders.store';
import type { AppLogs } from './app-logs';
import type { AppReplica } from './app-replica';
import { ReplicaSet, type RunLimits } from './replica-set';
import { RunnerState, type TellStatus } from './runner-state';
import { type Entered, type Runnable, type Serving, startProcess } from './serving';
import { Trial } from './trial';

export class AppUnavailable extends ExecutorUnreachable {}

interface Machine {
  readonly next: (revision?: StartedRevision) => Promise<Runnable | undefined>;
  readonly room: (runner: AppRunner, places: number) => Promise<boolean>;
  readonly tell: TellStatus;
  readonly tookBack: (taken: TakenBack) => void;
}

export interface TakenBack {
  readonly from: StartedRevision;
  readonly to: StartedRevision;
  readonly reason: string;
}

const NONE: ReadonlySet<number> = new Set();

/** Runs the program of one deployment: which revision serves, and how another one takes its place. */
export class AppRunner {
  private readonly state: RunnerState;
  private readonly serving: ReplicaSet;
  /** True while requests wait for the successor of a program that was ended. */
  private isHeld = false;
  private readonly changes = new EventEmitter().setMaxListeners(0);
  private trial: Trial | undefined;
  private starting: Runnable | undefined;
  private life = new AbortController();
  private turns = 0;
  private uses = 0;
  private lastUse = Date.now();
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly limits: RunLimits,
    readonly logs: AppLogs,
    private readonly machine: Machine,
    private stopped = false,
  ) {
    this.state = new RunnerState(machine.tell);
    this.serving = new ReplicaSet(limits, logs, this.state, {
      next: () => machine.next(),
      room: (places) => machine.room(this, places),
      isUsed: () => this.uses > 0,
      hurry: () => this.life.signal,
      changed: () => this.noteChange(),
      ended: (...end) => this.takeBack(...end),
    });
  }

  /** Processes that it may run at a time, ending ones included. It is given them by the machine, and gives them back. */
  get places(): number {
    return this.serving.places;
  }

  set places(places: number) {
    this.serving.places = places;
  }

  get isStopped(): boolean {
    return this.stopped;
  }

  /** True when it takes memory: it runs, is being started, or will be at once. */
  get isAwake(): boolean {
    return this.places > 0;
  }

  /** Since when nobody has used what may sleep (ms since 1970); undefined while somebody does, and when nothing runs. */
  get idleSince(): number | undefined {
    const maySleep = this.isAwake && !this.stopped && !this.serving.program?.isAlwaysOn;
    return maySleep && this.uses === 0 ? this.lastUse : undefined;
  }

  get restarts(): number {
    return this.state.restarts;
  }

  /** Notes that it is used until the function is called that is given back. It does not sleep meanwhile. */
  use(): () => void {
    this.uses++;
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      this.lastUse = Date.now();
      this.uses--;
      this.rest();
    };
  }

  /**
   * A request to the least busy process, but those at the ports of `tried`. What serves is started when nothing does.
   * @throws AppUnavailable when `late` aborts before
   */
  async enter(late: AbortSignal, tried = NONE): Promise<Entered> {
    let hasWoken = false;
    for (;;) {
      if (this.stopped) throw new AppUnavailable('It was stopped.');
      const { ready, all, isHopeless } = this.serving;
      const [serving] = ready.filter(({ port }) => !tried.has(port)).sort(byUse);
      if (serving) {
        serving.turn = ++this.turns;
        return serving.begin();
      }
      if (ready.length > 0) throw new AppUnavailable('It does not take connections.');
      if (isHopeless || late.aborted) throw this.unavailable();
      if (all.length === 0 && !this.isHeld) {
        // There was nothing to run.
        if (hasWoken) throw this.unavailable();
        hasWoken = true;
        this.serving.wake();
      }
      await once(this.changes, 'change', { signal: late }).catch(() => undefined);
    }
  }

  /**
   * Puts a program in the place of the one that runs, when all its processes have become ready. Programs overlap where
   * the machine has room for both. Otherwise, and when a program keeps threads in files, which two of them would lose,
   * requests wait while one follows the other. When a process of the new one ends soon, what `previous` runs takes its
   * place back. `placed` is called when the new one serves, before anything can take its place back.
   * @throws StepFailed when it does not become ready; the one before runs on
   */
  replace(program: Runnable, signal: AbortSignal, placed: () => void, previous?: StartedRevision): Promise<void> {
    return this.inTurn(signal, async (alive) => {
      this.starting = program;
      await this.putInPlace(program, alive, placed, previous).finally(() => (this.starting = undefined));
    });
  }

  private async putInPlace(
    program: Runnable,
    alive: AbortSignal,
    placed: () => void,
    previous?: StartedRevision,
  ): Promise<void> {
    const { scale, revision } = program;
    const { serving } = this;
    if (this.mayOverlap(program) && (await this.machine.room(this, scale))) {
      const fresh = await serving.started(program, scale, alive).catch((error: unknown) => {
        serving.giveBack(scale);
        throw error;
      });
      const before = { before: serving.all, program: serving.program };
      serving.serve(program, fresh);
      const retired = this.beginTrial(revision, previous, before) ? undefined : serving.retire(before.before);
      placed();
      return retired;
    }
    const running = serving.ready[0];
    if (running && running.revision.build !== revision.build) await this.prove(program, alive);
    const before = { before: [], program: serving.program };
    await this.follow(program, alive);
    this.beginTrial(revision, previous, before);
    placed();
  }

  /**
   * Ends the processes and starts them again. One follows the other, each beside the one before where the machine has
   * room, while the others answer. Requests wait when there is no other. @throws StepFailed when one does not become ready
   */
  restart(signal: AbortSignal): Promise<void> {
    return this.inTurn(signal, async (alive) => {
      const program = await this.machine.next();
      if (!program) return;
      void this.endTrial();
      if (!this.mayOverlap(program)) return this.follow(program, alive);
      await this.serving.resizeTo(program);
      for (const [index, before] of [...this.serving.all.entries()]) {
        await this.serving.replace(index, before, program, alive);
      }
      this.state.endLoop();
      this.noteChange();
    });
  }

  stop(): Promise<void> {
    this.stopped = true;
    this.life.abort(new ExecutorUnreachable('The program was stopped.'));
    this.changes.emit('change');
    const stopped = this.turn.then(async () => {
      this.stopped = true;
      this.state.endLoop();
      await Promise.all(this.dismiss().map((replica) => replica.stop()));
      await this.serving.resting;
      this.places = 0;
      this.life = new AbortController();
    });
    this.turn = stopped.catch(() => undefined);
    return stopped;
  }

  /** Ends the program until the next request, which waits until it has ended. */
  async sleep(): Promise<void> {
    this.places = 0;
    this.serving.restUntil(this.dismiss().map((replica) => replica.stop()));
    this.state.tellAsleep();
    await this.serving.resting;
  }

  async expel(why: string): Promise<void> {
    await Promise.all(this.serving.ready.map(({ process }) => process.stop(why)));
  }

  /** True when processes that were replaced a moment ago can be ended at once, so that others have room. */
  get hasSpare(): boolean {
    return this.trial?.hasSpare ?? false;
  }

  /** Ends those processes: they are started again when they are to serve. */
  async giveSpare(): Promise<void> {
    if (this.trial) await this.serving.retire(this.trial.giveSpare());
  }

  /** The processes as they are now; none while it sleeps or is stopped. */
  health(): ProcessHealth[] {
    const { starting, isHeld, stopped: isStopped, trial } = this;
    const { all: replicas, program } = this.serving;
    return this.state.processes({
      ...{ replicas, isStopped, scale: program?.scale },
      isStarting: isHeld || starting !== undefined,
      awaited: starting ?? program,
      spare: trial?.before,
    });
  }

  /** Keeps what was replaced for a while. Returns false when there is nothing that could take its place back. */
  private beginTrial(
    fresh: StartedRevision,
    previous: StartedRevision | undefined,
    before: Pick<Trial, 'before' | 'program'>,
  ): boolean {
    void this.endTrial();
    if (!previous || previous.revisionId === fresh.revisionId || this.limits.trial === 0) return false;
    this.trial = new Trial(fresh, previous, before, { most: this.limits.trial, over: () => void this.endTrial() });
    // What has ended meanwhile does not come back beside its successor.
    if (before.before.some(({ running }) => !running)) void this.giveSpare();
    return true;
  }

  /** Lets the program that was deployed last stay, whatever becomes of it, and ends the one before. */
  private async endTrial(): Promise<void> {
    const { trial } = this;
    this.trial = undefined;
    if (trial) await this.serving.retire(trial.end());
  }

  /** Lets the program of before serve again when a process of its successor has ended soon. Returns whether it does. */
  private takeBack(replica: AppReplica, { revision, lastLine }: Serving, sentence: string): boolean {
    const { trial, serving } = this;
    const { all: failed } = serving;
    if (trial?.fresh.revisionId !== revision.revisionId || !failed.includes(replica)) return false;
    const { fresh, previous, program } = trial;
    const before = trial.end();
    this.trial = undefined;
    const ended = Promise.all(failed.filter((one) => one !== replica).map((one) => one.stop()));
    if (before.length > 0) {
      serving.program = program;
      serving.all = [...before];
      void ended.then(() => serving.giveBack(failed.length));
    } else {
      // What takes its place is started after it has ended.
      serving.restUntil([ended]);
      serving.giveBack(failed.length - 1);
      serving.wake(() => this.machine.next(previous));
    }
    const reason = trial.failure(sentence, lastLine);
    this.logs.say(`${reason} Revision ${previous.revisionId} has taken the place of ${fresh.revisionId} back.`);
    this.machine.tookBack({ from: fresh, to: previous, reason });
    this.noteChange();
    return true;
  }

  private mayOverlap({ revision: { recipe } }: Runnable): boolean {
    return !recipe.langgraph && this.serving.ready.length > 0;
  }

  /** Does something that makes it run, after what is being done. A program that was stopped is so again when it fails. */
  private inTurn(signal: AbortSignal, work: (alive: AbortSignal) => Promise<void>): Promise<void> {
    const done = this.turn.then(async () => {
      const alive = AbortSignal.any([signal, this.life.signal]);
      alive.throwIfAborted();
      const { stopped } = this;
      this.stopped = false;
      try {
        await work(alive);
      } catch (error) {
        this.stopped ||= stopped;
        throw error;
      }
    });
    this.turn = done.catch(() => undefined);
    return done;
  }

  /** Shows that a program starts, with an empty folder for its threads. @throws StepFailed */
  private async prove(program: Runnable, signal: AbortSignal): Promise<void> {
    const { process } = await startProcess(program, this.logs, this.limits.ready, signal, 'proof');
    await process.stop();
  }

  /** Starts a program after the one that runs has ended, while requests wait. When it fails, the one before is started. */
  private async follow(program: Runnable, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { serving } = this;
    const hasRun = serving.ready.length > 0;
    this.isHeld = true;
    try {
      // A request that does not end must not take all the time that those who wait have. What was being started has the
      // folder of threads until it has ended.
      await Promise.all(this.dismiss(program).map((replica) => replica.retire(this.limits.hold / 2, this.life.signal)));
      while (this.places < program.scale && (await this.machine.room(this, 1)));
      this.places = Math.max(1, Math.min(this.places, program.scale));
      const fresh = await serving.started(program, this.places, signal);
      this.isHeld = false;
      serving.serve(program, fresh);
    } catch (error) {
      this.isHeld = false;
      serving.program = undefined;
      if (hasRun) serving.wake();
      this.changes.emit('change');
      throw error;
    }
  }

  private rest(): void {
    const isOver = this.serving.all.every((replica) => replica.isOver) && !this.trial?.before.length;
    if (this.uses === 0 && isOver) this.places = 0;
  }

  private dismiss(program?: Runnable): AppReplica[] {
    const { trial } = this;
    this.trial = undefined;
    return [...this.serving.dismiss(program), ...(trial?.end() ?? [])];
  }

  private noteChange(): void {
    this.rest();
    this.state.note(this.serving.all);
    this.changes.emit('change');
  }

  private unavailable(): AppUnavailable {
    return new AppUnavailable(this.state.lastError ?? 'It did not become ready.');
  }
}

/** Order of processes for a request: those that answer, then the least busy, then the one that waited longest. */
function byUse(one: Serving, other: Serving): number {
  return (
    Number(one.trouble !== null) - Number(other.trouble !== null) || one.busy - other.busy || one.turn - other.turn
  );
}
