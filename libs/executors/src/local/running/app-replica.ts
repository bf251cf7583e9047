import { setTimeout as delay } from 'node:timers/promises';
import { ExecutorUnreachable } from '../../port/executor';
import { ENDS_OF_LOOP, RECOVERED_MS } from '../../port/crash-loop';
import { type Looks, watchLiveness } from './liveness.worker';
import { NotReady, type Runnable, type Serving } from './serving';

/** First and longest pause before a process that ended is started again (ms). */
export interface Pauses {
  readonly first: number;
  readonly most: number;
  /** Time for which a process has to run until a crash loop before is over. Default: `RECOVERED_MS`. */
  readonly recovered?: number;
}

/** Facts about a process that are kept while it is replaced, stopped or put to sleep. */
export interface ReplicaRecord {
  restarts: number;
  lastError: string | null;
  /** Last line of the process that failed last; empty when it wrote nothing. */
  lastLine: string;
}

interface Surroundings {
  readonly pauses: Pauses;
  readonly looks: Looks;
  readonly lines: () => number;
  readonly next: () => Promise<Runnable | undefined>;
  readonly start: (program: Runnable, signal: AbortSignal) => Promise<Serving>;
  readonly changed: () => void;
  /** It knows for the first time what it runs. */
  readonly found: (program: Runnable) => void;
  /** There is nothing to run, or what runs it cannot be reached and nobody waits for it: it does not go on. */
  readonly gaveUp: () => void;
  readonly isUsed: () => boolean;
  /** Its process does not answer, and is about to be started again. */
  readonly lost: (sentence: string) => void;
  readonly said: (sentences: string) => void;
  /** It has ended by itself. Returns true when it is not to be started again, because another one takes its place. */
  readonly ended: (serving: Serving, sentence: string) => boolean;
}

/** Keeps one process of a program running: one that ends is started again, after a pause that grows with every failure. */
export class AppReplica {
  running: Serving | undefined;
  isOver = false;
  /** True when its process has run for the longest pause. */
  isSteady = false;
  /** True when its process has run for so long that a crash loop before is over. */
  hasRecovered = false;
  /** Failures in a row: a process that has run for the longest pause ends the row. */
  failures = 0;
  /** Processes in a row that were ended because they had written too much. */
  private full = 0;
  private readonly life = new AbortController();
  private starting: Promise<unknown> = Promise.resolve();

  /** Without a program it looks up what is to run when it starts. */
  constructor(
    private readonly around: Surroundings,
    readonly record: ReplicaRecord,
    private program?: Runnable,
  ) {}

  /** True while it ends again and again, also while it runs in between. Requests do not wait for it. */
  get isCrashing(): boolean {
    return this.failures >= ENDS_OF_LOOP;
  }

  get isHopeless(): boolean {
    return !this.running && this.isCrashing;
  }

  /** Starts its program once. @throws StepFailed when that does not become ready; the reason of `signal` when that aborts */
  start(signal: AbortSignal): Promise<void> {
    const started = this.begin(this.program!, AbortSignal.any([signal, this.life.signal]));
    this.starting = started.catch(() => undefined);
    return started;
  }

  keep(): void {
    this.starting = this.tryOn();
  }

  /**
   * Ends its process once the requests of that have ended, or after `most` milliseconds, or when `hurry` aborts. It is not
   * started again.
   */
  async retire(most: number, hurry: AbortSignal): Promise<void> {
    await (await this.released())?.retire(most, hurry);
  }

  async stop(): Promise<void> {
    await (await this.released())?.stop();
  }

  private async released(): Promise<Serving | undefined> {
    const { running } = this;
    this.life.abort();
    this.running = undefined;
    await this.starting;
    return running;
  }

  private async tryOn(): Promise<void> {
    const { signal } = this.life;
    const { first, most } = this.around.pauses;
    while (!signal.aborted && !this.running) {
      const pause = this.failures === 0 ? 0 : Math.min(most, first * 2 ** Math.min(this.failures - 1, 20));
      await delay(pause, undefined, { ref: false, signal }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        const program = await this.current();
        // Who puts it to sleep waits until this has ended, and what is made ready would wait for that.
        if (signal.aborted) return;
        if (!program) return this.around.gaveUp();
        await this.begin(program, signal);
      } catch (error) {
        if (signal.aborted) return;
        const { message } = error as Error;
        if (!(error instanceof ExecutorUnreachable)) {
          this.fail(message, error instanceof NotReady ? error.lastLine : '');
          continue;
        }
        // It is no fault of the program: requests wait until its engine is back, and the next one tries again.
        this.record.lastError = message;
        if (!this.around.isUsed()) return this.around.gaveUp();
        await delay(first, undefined, { ref: false, signal }).catch(() => undefined);
      }
    }
  }

  /** The program that it runs, with the sizes of now when it is started again. */
  private async current(): Promise<Runnable | undefined> {
    const { program } = this;
    if (program && this.failures === 0) return program;
    const now = await this.around.next();
    if (program) return now?.revision.revisionId === program.revision.revisionId ? now : program;
    this.program = now;
    if (now && !this.life.signal.aborted) this.around.found(now);
    return now;
  }

  private async begin(program: Runnable, signal: AbortSignal): Promise<void> {
    const serving = await this.around.start(program, signal);
    if (signal.aborted) {
      await serving.stop();
      signal.throwIfAborted();
    }
    this.running = serving;
    this.isSteady = this.hasRecovered = false;
    const { most, recovered: long = RECOVERED_MS } = this.around.pauses;
    // One that has run for a while does not crash all the time.
    const steady = setTimeout(() => {
      this.failures = 0;
      this.isSteady = true;
      this.around.changed();
    }, most).unref();
    const recovered = setTimeout(() => {
      this.hasRecovered = true;
      this.around.changed();
    }, long).unref();
    const over = new AbortController();
    this.watch(serving, over.signal);
    void serving.process.ended.then((how) => {
      clearTimeout(steady);
      clearTimeout(recovered);
      over.abort();
      if (this.running !== serving) return;
      this.running = undefined;
      const sentence = `The program ${how}.`;
      if (this.around.ended(serving, sentence)) {
        this.life.abort();
        this.note(sentence, serving.lastLine);
        return;
      }
      this.full = serving.process.isFull ? this.full + 1 : 0;
      this.isOver = this.full >= ENDS_OF_LOOP;
      this.around.said(`${sentence} ${this.isOver ? 'It is not started again by itself.' : 'It is started again.'}`);
      if (!this.isOver) this.record.restarts++;
      this.fail(sentence, serving.lastLine);
      if (!this.isOver) this.keep();
    });
    this.around.changed();
  }

  private watch(serving: Serving, signal: AbortSignal): void {
    const { lines, looks } = this.around;
    const { port, revision } = serving;
    const looked = {
      ...{ port, health: revision.recipe.health },
      get isBusy() {
        return serving.isWorking;
      },
      get signs() {
        return lines();
      },
    };
    const trouble = (sentence: string | null) => {
      if (this.running !== serving) return;
      serving.trouble = sentence;
      this.around.changed();
    };
    const lost = (how: string) => {
      if (this.running !== serving) return;
      this.around.lost(`The program ${how}.`);
      void serving.process.stop(how);
    };
    void watchLiveness(looked, looks, { trouble, lost }, signal);
  }

  private fail(why: string, lastLine: string): void {
    this.failures++;
    this.note(why, lastLine);
    this.around.changed();
  }

  private note(lastError: string, lastLine: string): void {
    Object.assign(this.record, { lastError, lastLine });
  }
}
