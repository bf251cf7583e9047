import { Logger } from '@nestjs/common';
import type { PoolClient } from 'pg';
import type { Recorded } from '../core/event';
import type { ParkedSubject, ParkedSubjects } from './parked-subjects';
import { Wakeups } from './wakeups';

/** The number of attempts at an event, and the pauses between them: each is three times the one before. */
export interface Patience {
  readonly attempts: number;
  readonly firstMs: number;
  readonly mostMs: number;
}

/** Ten attempts in about five minutes. */
export const PATIENCE: Patience = { attempts: 10, firstMs: 100, mostMs: 60_000 };

function pauseAfter(attempts: number, { attempts: most, firstMs, mostMs }: Patience): number | null {
  return attempts < most ? Math.min(firstMs * 3 ** (attempts - 1), mostMs) : null;
}

export const POLL_MS = 1000;

/**
 * The number of subjects that are tried before a pause, and its least length as a multiple of the time that they took.
 */
interface Pace {
  readonly most: number;
  readonly pauses: number;
}

/** Retries parked subjects when they are due, one after the other, until it is stopped. */
export abstract class Retries {
  protected readonly logger: Logger;
  private readonly stopping = new AbortController();
  private readonly wakeups = new Wakeups();
  /** Woken only at the end, so that a pause has its full length. */
  private readonly pauses = new Wakeups();
  private ended: Promise<void> = Promise.resolve();

  constructor(
    protected readonly parked: ParkedSubjects,
    protected readonly patience: Patience,
    private readonly pace: Pace,
    kind: string,
  ) {
    this.logger = new Logger(kind);
  }

  start(): void {
    this.ended = this.retryUntilStopped();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.ended;
  }

  wake(): void {
    this.wakeups.wake();
  }

  protected abstract names(): string[];

  /** Makes one attempt, unless another process does. @throws errors that the subject does not cause */
  protected abstract retry(subject: ParkedSubject): Promise<void>;

  /** Records that an event failed after a number of attempts, and logs when the subject is given up. */
  protected async failed(
    { id, consumer, subject }: ParkedSubject,
    event: Pick<Recorded, 'type' | 'version'>,
    attempts: number,
    reason: string,
    tx?: PoolClient,
  ): Promise<void> {
    const pause = pauseAfter(attempts, this.patience);
    await this.parked.failed(id, event, attempts, reason, pause, tx);
    if (pause !== null) return;
    this.logger.error(
      `${consumer} gave up at ${subject} version ${event.version} after ${attempts} attempts: ${reason}`,
    );
  }

  private async retryUntilStopped(): Promise<void> {
    const { signal } = this.stopping;
    const { firstMs } = this.patience;
    while (!signal.aborted) {
      const { count } = this.wakeups;
      const started = performance.now();
      const found = await this.retryDue(signal);
      if (found === 0) await this.wakeups.next(signal, POLL_MS, count);
      // What has just been parked is due after the first pause.
      const pause = found > 0 ? Math.max(firstMs, this.pace.pauses * (performance.now() - started)) : firstMs;
      if (found > 0 || this.wakeups.count !== count) await this.pauses.next(signal, pause);
    }
  }

  /**
   * Retries what is due and returns the number of subjects. A subject that cannot be retried does not delay the others.
   */
  private async retryDue(signal: AbortSignal): Promise<number> {
    const problems: unknown[] = [];
    let due: ParkedSubject[] = [];
    try {
      due = await this.parked.due(this.names(), this.pace.most);
    } catch (error) {
      problems.push(error);
    }
    for (const subject of due) {
      if (signal.aborted) break;
      try {
        await this.retry(subject);
      } catch (error) {
        problems.push(error);
      }
    }
    if (problems.length > 0) this.logger.warn(`Parked subjects cannot be tried again: ${reasonOf(problems[0])}`);
    return due.length;
  }
}

export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  // It is logged and stored, and a NUL is at home in neither.
  return text.replaceAll('\0', '\ufffd');
}
