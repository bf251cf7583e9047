import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { ExecutorUnreachable } from '../../port/executor';
import { crashLoops, crashLoopText } from '../../port/crash-loop';
import type { ProcessHealth } from '../../port/process-health.schema';
import type { StartedRevision } from '../app-folders.store';
import type { AppLogs } from '../app-logs.store';
import type { Looks } from './liveness.watch';
import { type Pauses, Replica, type ReplicaRecord } from './replica.process';
import { type Entered, type Runnable, type Serving, startProcess } from './serving.process';

export interface RunLimits {
  /** Milliseconds until a program must be ready. */
  readonly ready: number;
  /**
   * Milliseconds for which a request waits while a program starts, and a program for its requests before it is stopped:
   * half of them while others wait for the next one.
   */
  readonly hold: number;
  readonly restart: Pauses;
  readonly looks: Looks;
  /** Milliseconds for which what a new program has replaced can take its place back; 0: not at all. */
  readonly trial: number;
}

/** The program of a deployment does not answer now; the message is a sentence. */
export class AppUnavailable extends ExecutorUnreachable {}

/** Status that a program reports. */
type AppStatus = 'READY' | 'UNKNOWN' | 'UNUSED';

/** Takes the status of a program, why it has that, and whether that is a crash loop. */
export type TellStatus = (status: AppStatus, reason?: string, isCrashLooping?: boolean) => void;

/** Services of the machine that a runner uses, and the reports that it makes. */
interface Machine {
  /** The revision that is to run now; undefined when nothing is to run. */
  readonly next: (revision?: StartedRevision) => Promise<Runnable | undefined>;
  /** Adds to the places of a program when there is room for so many more processes at once; answers whether there is. */
  readonly room: (runner: AppRunner, places: number) => Promise<boolean>;
  /** The program has become ready, does not come back, or sleeps. */
  readonly tell: TellStatus;
  /** A revision that was deployed a moment ago has ended, and the one before it has taken its place back. */
  readonly tookBack: (taken: TakenBack) => void;
}

/** A revision that has lost its place to the one before it. */
export interface TakenBack {
  readonly from: StartedRevision;
  readonly to: StartedRevision;
  /** Why, in one sentence. */
  readonly reason: string;
}

/** The time after a deployment in which what ran before can take its place back. */
interface Trial {
  readonly fresh: StartedRevision;
  readonly previous: StartedRevision;
  /** Processes that served before, and run on for now; none where the machine has no room for them. */
  before: readonly Replica[];
  /** The revision that they run; undefined where nothing ran. */
  readonly program: Runnable | undefined;
  readonly since: number;
  readonly timer: NodeJS.Timeout;
}

const NONE: ReadonlySet<number> = new Set();
/** Interval at which room is looked for when a program lacks a process (ms). */
const ROOM_MS = 1000;

/** Runs the program of one deployment: which processes serve, and how others take their place. */
export class AppRunner {
  /** Processes that it may run at a time, ending ones included. It is given them by the machine, and gives them back. */
  places = 0;
  /** Processes that serve, or will once they are ready; none while nobody has asked for the program. */
  private replicas: Replica[] = [];
  /** Records of the processes, which outlive them. */
  private readonly records: ReplicaRecord[] = [];
  /** The program that should run, as far as it is known. */
  private program: Runnable | undefined;
  /** True while requests wait for the successor of a program that was ended. */
  private isHeld = false;
  /** Says when it may be another process that serves, or none. */
  private readonly changes = new EventEmitter().setMaxListeners(0);
  private trial: Trial | undefined;
  /** The revision that is being put in place. */
  private starting: Runnable | undefined;
  /** Aborts what is being put in place. */
  private life = new AbortController();
  private turns = 0;
  /** Last reported status, and whether that was a crash loop or the end of all attempts. */
  private told: { readonly status: AppStatus; readonly kind?: 'loop' | 'over' } | undefined;
  /** Failures in a row of the crash loop that is not over yet, also while the program sleeps; undefined without one. */
  private loop: number | undefined;
  private uses = 0;
  private lastUse = Date.now();
  /** Resolves when what was put to sleep has ended. */
  private resting: Promise<unknown> = Promise.resolve();
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly limits: RunLimits,
    readonly logs: AppLogs,
    private readonly machine: Machine,
    private stopped = false,
  ) {}

  get isStopped(): boolean {
    return this.stopped;
  }

  /** True when it takes memory: it runs, is being started, or will be at once. */
  get isAwake(): boolean {
    return this.places > 0;
  }

  /** Since when nobody has used what may sleep (ms since 1970); undefined while somebody does, and when nothing runs. */
  get idleSince(): number | undefined {
    const maySleep = this.isAwake && !this.stopped && !this.program?.isAlwaysOn;
    return maySleep && this.uses === 0 ? this.lastUse : undefined;
  }

  /** Number of times that its processes have been started again after they ended. */
  get restarts(): number {
    return this.records.reduce((sum, { restarts }) => sum + restarts, 0);
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
      const { ready } = this;
      const [serving] = ready.filter(({ port }) => !tried.has(port)).sort(byUse);
      if (serving) {
        serving.turn = ++this.turns;
        return serving.begin();
      }
      if (ready.length > 0) throw new AppUnavailable('It does not take connections.');
      if (this.isHopeless || late.aborted) throw this.unavailable();
      if (this.replicas.length === 0 && !this.isHeld) {
        // There was nothing to run.
        if (hasWoken) throw this.unavailable();
        hasWoken = true;
        this.wake();
      }
      await once(this.changes, 'change', { signal: late }).catch(() => undefined);
    }
  }

  /**
   * Puts a program in the place of the one that runs, when all its processes have become ready. Programs overlap where
   * the machine has room for both. Otherwise, and when a program keeps threads in files, which two of them would lose,
   * requests wait while one follows the other. When a process of the new one ends soon, what `previous` runs takes its
   * place back. @throws StepFailed when it does not become ready; the one before runs on
   */
  replace(program: Runnable, signal: AbortSignal, previous?: StartedRevision): Promise<void> {
    const work = async (alive: AbortSignal) => {
      const { scale, revision } = program;
      if (this.mayOverlap(program) && (await this.machine.room(this, scale))) {
        const fresh = await this.started(program, scale, alive).catch((error: unknown) => {
          this.giveBack(scale);
          throw error;
        });
        const before = { before: this.replicas, program: this.program };
        this.serve(program, fresh);
        if (!this.beginTrial(revision, previous, before)) await this.retire(before.before);
        return;
      }
      const running = this.ready[0];
      if (running && running.revision.build !== revision.build) await this.prove(program, alive);
      const before = { before: [], program: this.program };
      await this.follow(program, alive);
      this.beginTrial(revision, previous, before);
    };
    return this.inTurn(signal, async (alive) => {
      this.starting = program;
      await work(alive).finally(() => (this.starting = undefined));
    });
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
      await this.resizeTo(program);
      for (const [index, before] of [...this.replicas.entries()]) {
        const isBeside = await this.machine.room(this, 1);
        const fresh = this.replica(index, program);
        if (isBeside) {
          await fresh.start(alive).catch((error: unknown) => {
            this.giveBack(1);
            throw error;
          });
        }
        this.replicas[index] = fresh;
        await before.retire(isBeside ? this.limits.hold : this.limits.hold / 2, this.life.signal);
        if (isBeside) this.giveBack(1);
        else {
          await fresh.start(alive).catch((error: unknown) => {
            fresh.keep();
            throw error;
          });
        }
      }
      this.loop = undefined;
      this.noteChange();
    });
  }

  /** Ends the program, which stays so until it is started again. Requests are refused meanwhile. */
  stop(): Promise<void> {
    this.stopped = true;
    this.life.abort(new ExecutorUnreachable('The program was stopped.'));
    this.changes.emit('change');
    const stopped = this.turn.then(async () => {
      this.stopped = true;
      this.loop = undefined;
      await Promise.all(this.dismiss().map((replica) => replica.stop()));
      await this.resting;
      this.places = 0;
      this.life = new AbortController();
    });
    this.turn = stopped.catch(() => undefined);
    return stopped;
  }

  /** Ends the program until the next request, which waits until it has ended. */
  async sleep(): Promise<void> {
    this.places = 0;
    this.resting = Promise.all([this.resting, ...this.dismiss().map((replica) => replica.stop())]);
    if (this.told?.status !== 'UNKNOWN') this.say('UNUSED', 'Nobody uses it: it sleeps until the next request.');
    await this.resting;
  }

  /** Ends what runs, as if it had ended by itself. */
  async expel(why: string): Promise<void> {
    await Promise.all(this.ready.map(({ process }) => process.stop(why)));
  }

  /** True when processes that were replaced a moment ago can be ended at once, so that others have room. */
  get hasSpare(): boolean {
    const { before = [] } = this.trial ?? {};
    return before.length > 0 && before.every(({ running }) => running === undefined || running.busy === 0);
  }

  /** Ends those processes: they are started again when they are to serve. */
  async giveSpare(): Promise<void> {
    const { trial } = this;
    if (!trial) return;
    const { before } = trial;
    trial.before = [];
    await this.retire(before);
  }

  /** The processes as they are now; none while it sleeps or is stopped. */
  health(): ProcessHealth[] {
    const { starting } = this;
    const scale = this.program?.scale ?? 1;
    const isStarting = this.isHeld || starting !== undefined;
    const count = Math.max(this.replicas.length, this.program ? scale : 0, isStarting ? 1 : 0);
    const serving = Array.from({ length: this.stopped ? this.replicas.length : count }, (_, index) => {
      const name = scale > 1 || index > 0 ? `program-${index + 1}` : 'program';
      return this.healthOf(this.replicas[index], index, name, isStarting);
    });
    return [...serving, ...(this.trial?.before ?? []).map((replica, index) => this.healthOfSpare(replica, index))];
  }

  private healthOf(replica: Replica | undefined, index: number, name: string, isStarting: boolean): ProcessHealth {
    const { restarts, lastError: last_error } = this.record(index);
    const running = replica?.running;
    const seen = { name, restarts, ...seenOf(running), last_error };
    if (replica?.isOver) return { ...seen, state: 'FAILED', reason: last_error };
    // A process that was woken begins anew, and the crash loop goes on until it has run for a while.
    if (replica && (replica.isCrashing || (this.loop !== undefined && !(running && replica.isSteady)))) {
      const failures = Math.max(replica.failures, this.loop ?? 0);
      return { ...seen, state: 'CRASH_LOOPING', reason: this.crashing(failures) };
    }
    if (running?.trouble) return { ...seen, state: 'UNRESPONSIVE', reason: running.trouble };
    if (running) return { ...seen, state: 'RUNNING', reason: null };
    if (!replica && !isStarting) return { ...seen, state: 'STARTING', reason: 'There is no room for it now.' };
    return { ...seen, state: 'STARTING', reason: last_error ?? this.awaited };
  }

  private healthOfSpare({ running }: Replica, index: number): ProcessHealth {
    const reason = 'It was replaced, and stays for a while to take its place back if its successor ends.';
    const seen = { ...seenOf(running), restarts: 0, last_error: null };
    return { name: `replaced-${index + 1}`, state: 'STOPPING', reason, ...seen };
  }

  /** Condition that a program that starts has to fulfil. */
  private get awaited(): string {
    const health = (this.starting ?? this.program)?.revision.recipe.health;
    return health === undefined
      ? 'It is waited until the program listens at the port that PORT names.'
      : `It is waited until the program answers GET ${health} at the port that PORT names.`;
  }

  /** Keeps what was replaced for a while. Returns false when there is nothing that could take its place back. */
  private beginTrial(
    fresh: StartedRevision,
    previous: StartedRevision | undefined,
    before: Pick<Trial, 'before' | 'program'>,
  ): boolean {
    void this.endTrial();
    if (!previous || previous.revisionId === fresh.revisionId || this.limits.trial === 0) return false;
    const timer = setTimeout(() => void this.endTrial(), this.limits.trial).unref();
    this.trial = { fresh, previous, ...before, since: Date.now(), timer };
    for (const { running } of before.before) running?.disconnect();
    // What has ended meanwhile does not come back beside its successor.
    if (before.before.some(({ running }) => !running)) void this.giveSpare();
    return true;
  }

  /** Lets the program that was deployed last stay, whatever becomes of it, and ends the one before. */
  private async endTrial(): Promise<void> {
    const { trial } = this;
    if (!trial) return;
    clearTimeout(trial.timer);
    this.trial = undefined;
    await this.retire(trial.before);
  }

  /** Lets the program of before serve again when a process of its successor has ended soon. Returns whether it does. */
  private takeBack(replica: Replica, { revision }: Serving, sentence: string): boolean {
    const { trial, replicas: failed } = this;
    if (trial?.fresh.revisionId !== revision.revisionId || !failed.includes(replica)) return false;
    const { fresh, previous, before, program, since, timer } = trial;
    clearTimeout(timer);
    this.trial = undefined;
    const ended = Promise.all(failed.filter((one) => one !== replica).map((one) => one.stop()));
    if (before.length > 0) {
      this.program = program;
      this.replicas = [...before];
      void ended.then(() => this.giveBack(failed.length));
    } else {
      // What takes its place is started after it has ended.
      this.resting = Promise.all([this.resting, ended]);
      this.giveBack(failed.length - 1);
      this.wake(() => this.machine.next(previous));
    }
    const seconds = Math.max(1, Math.round((Date.now() - since) / 1000));
    const line = this.logs.lastLine;
    const reason = `${sentence.slice(0, -1)} ${seconds} s after it was deployed${line === '' ? '.' : `, last line: ${line}`}`;
    this.logs.say(`${reason} Revision ${previous.revisionId} has taken the place of ${fresh.revisionId} back.`);
    this.machine.tookBack({ from: fresh, to: previous, reason });
    this.noteChange();
    return true;
  }

  private get ready(): Serving[] {
    return this.replicas.flatMap(({ running }) => running ?? []);
  }

  private get isHopeless(): boolean {
    return this.replicas.length > 0 && this.replicas.every((replica) => replica.isHopeless);
  }

  /** True when the processes of a program may run beside those that run now. */
  private mayOverlap({ revision: { recipe } }: Runnable): boolean {
    return !recipe.langgraph && this.ready.length > 0;
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
    const hasRun = this.ready.length > 0;
    this.isHeld = true;
    try {
      // A request that does not end must not take all the time that those who wait have. What was being started has the
      // folder of threads until it has ended.
      await Promise.all(this.dismiss(program).map((replica) => replica.retire(this.limits.hold / 2, this.life.signal)));
      while (this.places < program.scale && (await this.machine.room(this, 1)));
      this.places = Math.max(1, Math.min(this.places, program.scale));
      const fresh = await this.started(program, this.places, signal);
      this.isHeld = false;
      this.serve(program, fresh);
    } catch (error) {
      this.isHeld = false;
      this.program = undefined;
      if (hasRun) this.wake();
      this.changes.emit('change');
      throw error;
    }
  }

  /** Processes of a program that are all ready. @throws StepFailed when one does not become so */
  private async started(program: Runnable, count: number, signal: AbortSignal): Promise<Replica[]> {
    const fresh = Array.from({ length: count }, (_, index) => this.replica(index, program));
    try {
      await Promise.all(fresh.map((replica) => replica.start(signal)));
      return fresh;
    } catch (error) {
      await Promise.all(fresh.map((replica) => replica.stop()));
      throw error;
    }
  }

  /** Lets processes serve from now on. */
  private serve(program: Runnable, replicas: Replica[]): void {
    this.program = program;
    this.replicas = replicas;
    this.loop = undefined;
    this.noteChange();
    void this.grow();
  }

  /** Starts what is to run now. */
  private wake(next = () => this.machine.next()): void {
    const first = this.replica(0, undefined, next);
    this.places = 1;
    this.replicas = [first];
    first.keep();
  }

  /** Ends what is more than a program is to have, and starts what it lacks as soon as there is room. */
  private async resizeTo(program: Runnable): Promise<void> {
    this.program = program;
    void this.grow();
    await this.retire(this.replicas.splice(program.scale));
  }

  /** Starts the processes that the program lacks, as soon as there is room for each. */
  private async grow(): Promise<void> {
    const { program } = this;
    const isLacking = () => program !== undefined && this.program === program && this.replicas.length < program.scale;
    while (isLacking()) {
      if (!(await this.machine.room(this, 1))) await delay(ROOM_MS, undefined, { ref: false });
      else if (isLacking()) {
        const replica = this.replica(this.replicas.length, program);
        this.replicas.push(replica);
        replica.keep();
      } else this.giveBack(1);
    }
  }

  /** Ends processes when their requests have ended, and gives their places back. */
  private async retire(replicas: readonly Replica[]): Promise<void> {
    await Promise.all(replicas.map((replica) => replica.retire(this.limits.hold, this.life.signal)));
    this.giveBack(replicas.length);
  }

  /** Takes no memory any more when nothing runs or is to, and nobody waits for it. */
  private rest(): void {
    const isOver = this.replicas.every((replica) => replica.isOver) && !this.trial?.before.length;
    if (this.uses === 0 && isOver) this.places = 0;
  }

  private giveBack(places: number): void {
    this.places = Math.max(0, this.places - places);
  }

  /** Takes the processes away from those who send requests; `program` is to come. */
  private dismiss(program?: Runnable): Replica[] {
    const { replicas, trial } = this;
    this.program = program;
    this.replicas = [];
    clearTimeout(trial?.timer);
    this.trial = undefined;
    return [...replicas, ...(trial?.before ?? [])];
  }

  private replica(index: number, program?: Runnable, next = () => this.machine.next()): Replica {
    const replica: Replica = new Replica(
      {
        pauses: this.limits.restart,
        looks: this.limits.looks,
        lines: () => this.logs.written,
        lost: (sentence) => {
          if (this.ready.every(({ trouble }) => trouble !== null)) this.say('UNKNOWN', sentence);
        },
        next,
        start: async (runnable, signal) => {
          await this.resting;
          return startProcess(runnable, this.logs, this.limits.ready, signal);
        },
        changed: () => this.noteChange(),
        found: (found) => {
          this.program = found;
          void this.grow();
        },
        gaveUp: () => {
          this.replicas = this.replicas.filter((one) => one !== replica);
          this.giveBack(1);
          if (this.replicas.length === 0) this.program = undefined;
          this.noteChange();
          void delay(ROOM_MS, undefined, { ref: false }).then(() => this.grow());
        },
        isUsed: () => this.uses > 0,
        said: (sentences) => this.logs.say(sentences),
        ended: (serving, sentence) => this.takeBack(replica, serving, sentence),
      },
      this.record(index),
      program,
    );
    return replica;
  }

  private record(index: number): ReplicaRecord {
    return (this.records[index] ??= { restarts: 0, lastError: null });
  }

  private noteChange(): void {
    this.rest();
    const { replicas } = this;
    if (replicas.length > 0) {
      const states = replicas.map((replica, index) => this.healthOf(replica, index, '', false).state);
      const failures = Math.max(this.loop ?? 0, ...replicas.map((replica) => replica.failures));
      this.loop = crashLoops(this.loop !== undefined, states) ? failures : undefined;
      if (replicas.every(({ isOver }) => isOver)) this.say('UNKNOWN', this.lastError ?? undefined, 'over');
    }
    if (this.loop !== undefined) this.say('UNKNOWN', this.crashing(this.loop), 'loop');
    else if (this.ready.some(({ trouble }) => trouble === null)) this.say('READY');
    this.changes.emit('change');
  }

  /** Tells a status that is another one than before, and a crash loop or the end of all attempts beside the same status. */
  private say(status: AppStatus, reason?: string, kind?: 'loop' | 'over'): void {
    if (this.told?.status === status && (kind === undefined || this.told.kind === kind)) return;
    this.told = { status, kind };
    this.machine.tell(status, reason, kind === 'loop');
  }

  private crashing(failures: number): string {
    const line = this.logs.lastLine;
    const said = line === '' ? (this.lastError ?? 'It wrote nothing.') : `last line: ${line}`;
    return crashLoopText(failures, said);
  }

  /** Why a process ended or did not start the last time. */
  private get lastError(): string | null {
    return this.records.find(({ lastError }) => lastError !== null)?.lastError ?? null;
  }

  private unavailable(): AppUnavailable {
    return new AppUnavailable(this.lastError ?? 'It did not become ready.');
  }
}

/** Observed state of a process that is ready, or not there. */
function seenOf(running: Serving | undefined) {
  const { memory_bytes = null, cpu_cores = null } = running?.process.use ?? {};
  const started_at = running ? new Date(running.since).toISOString() : null;
  return { revision_id: running?.revision.revisionId ?? null, started_at, memory_bytes, cpu_cores };
}

/** Order of processes for a request: those that answer, then the least busy, then the one that waited longest. */
function byUse(one: Serving, other: Serving): number {
  return (
    Number(one.trouble !== null) - Number(other.trouble !== null) || one.busy - other.busy || one.turn - other.turn
  );
}
