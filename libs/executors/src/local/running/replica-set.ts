import { setTimeout as delay } from 'node:timers/promises';
import type { AppLogs } from './app-logs';
import type { Looks } from './liveness.worker';
import { type Pauses, AppReplica } from './app-replica';
import type { RunnerState } from './runner-state';
import { type Runnable, type Serving, startProcess } from './serving';

export interface RunLimits {
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

interface Surroundings {
  readonly next: () => Promise<Runnable | undefined>;
  /** Adds to the places when there is room for so many more processes at once; answers whether there is. */
  readonly room: (places: number) => Promise<boolean>;
  readonly isUsed: () => boolean;
  /** Aborts when processes are to end without waiting for their requests. */
  readonly hurry: () => AbortSignal;
  /** It may be another process that serves, or none. */
  readonly changed: () => void;
  /** A process has ended by itself. Returns true when it is not to be started again. */
  readonly ended: (replica: AppReplica, serving: Serving, sentence: string) => boolean;
}

/** Interval at which room is looked for when a program lacks a process (ms). */
const ROOM_MS = 1000;

/** The processes of a program that serve, or will once they are ready: as many as the program is to have. */
export class ReplicaSet {
  /** Processes that it may run at a time, ending ones included. It is given them by the machine, and gives them back. */
  places = 0;
  /** None while nobody has asked for the program. */
  all: AppReplica[] = [];
  program: Runnable | undefined;
  /** Resolves when what has to end before another process starts has ended. */
  resting: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly limits: RunLimits,
    private readonly logs: AppLogs,
    private readonly state: RunnerState,
    private readonly around: Surroundings,
  ) {}

  get ready(): Serving[] {
    return this.all.flatMap(({ running }) => running ?? []);
  }

  get isHopeless(): boolean {
    return this.all.length > 0 && this.all.every((replica) => replica.isHopeless);
  }

  /** Processes of a program that are all ready. @throws StepFailed when one does not become so */
  async started(program: Runnable, count: number, signal: AbortSignal): Promise<AppReplica[]> {
    const fresh = Array.from({ length: count }, (_, index) => this.replica(index, program));
    try {
      await Promise.all(fresh.map((replica) => replica.start(signal)));
      return fresh;
    } catch (error) {
      await Promise.all(fresh.map((replica) => replica.stop()));
      throw error;
    }
  }

  serve(program: Runnable, replicas: AppReplica[]): void {
    this.program = program;
    this.all = replicas;
    this.state.endLoop();
    this.around.changed();
    void this.grow();
  }

  wake(next = this.around.next): void {
    const first = this.replica(0, undefined, next);
    this.places = 1;
    this.all = [first];
    first.keep();
  }

  /** Puts a process of a program in the place of `before`, beside it where there is room. @throws StepFailed */
  async replace(index: number, before: AppReplica, program: Runnable, signal: AbortSignal): Promise<void> {
    const isBeside = await this.around.room(1);
    const fresh = this.replica(index, program);
    if (isBeside) {
      await fresh.start(signal).catch((error: unknown) => {
        this.giveBack(1);
        throw error;
      });
    }
    this.all[index] = fresh;
    await before.retire(isBeside ? this.limits.hold : this.limits.hold / 2, this.around.hurry());
    if (isBeside) return this.giveBack(1);
    await fresh.start(signal).catch((error: unknown) => {
      fresh.keep();
      throw error;
    });
  }

  /** Ends what is more than a program is to have, and starts what it lacks as soon as there is room. */
  async resizeTo(program: Runnable): Promise<void> {
    this.program = program;
    void this.grow();
    await this.retire(this.all.splice(program.scale));
  }

  async retire(replicas: readonly AppReplica[]): Promise<void> {
    await Promise.all(replicas.map((replica) => replica.retire(this.limits.hold, this.around.hurry())));
    this.giveBack(replicas.length);
  }

  /** Takes the processes away from those who send requests; `program` is to come. */
  dismiss(program?: Runnable): AppReplica[] {
    const { all } = this;
    [this.program, this.all] = [program, []];
    return all;
  }

  /** Lets no process start before these have ended. */
  restUntil(ended: readonly Promise<unknown>[]): void {
    this.resting = Promise.all([this.resting, ...ended]);
  }

  giveBack(places: number): void {
    this.places = Math.max(0, this.places - places);
  }

  private async grow(): Promise<void> {
    const { program } = this;
    const isLacking = () => program !== undefined && this.program === program && this.all.length < program.scale;
    while (isLacking()) {
      if (!(await this.around.room(1))) await delay(ROOM_MS, undefined, { ref: false });
      else if (isLacking()) {
        const replica = this.replica(this.all.length, program);
        this.all.push(replica);
        replica.keep();
      } else this.giveBack(1);
    }
  }

  private replica(index: number, program?: Runnable, next = this.around.next): AppReplica {
    const replica: AppReplica = new AppReplica(
      {
        pauses: this.limits.restart,
        looks: this.limits.looks,
        lines: () => this.logs.written,
        lost: (sentence) => {
          if (this.ready.every(({ trouble }) => trouble !== null)) this.state.say('UNKNOWN', sentence);
        },
        next,
        start: async (runnable, signal) => {
          await this.resting;
          return startProcess(runnable, this.logs, this.limits.ready, signal);
        },
        changed: this.around.changed,
        found: (found) => {
          this.program = found;
          void this.grow();
        },
        gaveUp: () => {
          this.all = this.all.filter((one) => one !== replica);
          this.giveBack(1);
          if (this.all.length === 0) this.program = undefined;
          this.around.changed();
          void delay(ROOM_MS, undefined, { ref: false }).then(() => this.grow());
        },
        isUsed: this.around.isUsed,
        said: (sentences) => this.logs.say(sentences),
        ended: (serving, sentence) => this.around.ended(replica, serving, sentence),
      },
      this.state.record(index),
      program,
    );
    return replica;
  }
}
