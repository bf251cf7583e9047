import type { PoolClient } from 'pg';
import type { Recorded } from '../core/event';
import { answersQuickly, type Fault, faultOf } from '../core/faults';
import type { BatchHandler } from './projection';
import { reasonOf } from './retries';

/** Stores which streams a follower has set aside, in the transaction of its batch. */
export interface Waiting {
  /** Returns the events whose streams are not set aside. The others are recorded as waiting. */
  withoutWaiting(events: readonly Recorded[], tx: PoolClient): Promise<Recorded[]>;
  park(event: Recorded, reason: string, tx: PoolClient): Promise<void>;
}

/**
 * Number of failures in a row, for a reason that does not say whose fault it is, after which the stream of a single
 * event is set aside.
 */
const STRIKES = 5;
/** Number of times in a row that a batch is too slow before its events are tried one by one. */
const SLOW_STRIKES = 2;
/**
 * Number of times in a row that several streams fail, one of them because it is slow, before all are set aside; each
 * time takes as long as a statement may.
 */
const SLOW_STRIKES_TOGETHER = 2;
/**
 * Time limit of a statement then (ms), because others wait: it becomes shorter with each stream that is set aside, down
 * to the least. What is set aside is retried without this limit.
 */
const PART_MS = 10_000;
const LEAST_PART_MS = 1000;

/**
 * Lets a follower go on after events that it cannot apply. A batch that fails is halved until a single event fails; its
 * stream is set aside, and everything else is applied. Failures that no event causes are left for a retry of the whole
 * batch, and doubtful ones are retried a limited number of times.
 */
export class SetAside {
  /** Number of times in a row that nothing could be handled and nothing was set aside. */
  private strikes = 0;
  private slow = 0;

  constructor(
    readonly waiting: Waiting,
    /**
     * Number of times in a row that several streams fail, and nothing else can be handled, before they are all set
     * aside.
     */
    private readonly mostTogether: number,
    private readonly most = STRIKES,
  ) {}

  worked(): void {
    this.strikes = 0;
    this.slow = 0;
  }

  /** Called with the error of a batch. Returns false when no event can be its cause. */
  mayBlame(error: unknown): boolean {
    const fault = faultOf(error);
    if (fault === 'slow') this.slow++;
    if (fault === 'slow') return this.slow >= Math.min(SLOW_STRIKES, this.most);
    return fault !== 'surroundings';
  }

  /**
   * Handles what can be handled; each half of a failing part is tried by itself. @throws errors that no event causes
   */
  async handle(events: readonly Recorded[], tx: PoolClient, handle: BatchHandler): Promise<void> {
    const failed = new Map<string, { readonly event: Recorded; readonly error: unknown }>();
    const parts = halves(events);
    let handled = 0;
    for (let part = parts.shift(); part; part = parts.shift()) {
      const rest = part.filter(({ stream }) => !failed.has(stream));
      if (rest.length === 0) continue;
      if (this.slow > 0) await limitStatements(tx, Math.max(PART_MS / (1 + failed.size), LEAST_PART_MS));
      const error = await failureOf(rest, tx, handle);
      if (!error) handled += rest.length;
      else if (rest.length > 1) parts.unshift(...halves(rest));
      else failed.set(rest[0]!.stream, { event: rest[0]!, error: error.of });
    }
    const errors = [...failed.values()].map(({ error }) => error);
    if (handled === 0 && this.mayPass(errors)) {
      this.strikes++;
      throw errors[0];
    }
    for (const { event, error } of failed.values()) await this.waiting.park(event, reasonOf(error), tx);
    if (failed.size > 0) await this.waiting.withoutWaiting(events, tx);
  }

  /**
   * Returns whether the batch is to be tried again as it is. When nothing can be handled, for reasons that do not say
   * whose fault it is, the events are probably not the cause; but a follower does not wait for ever.
   */
  private mayPass(errors: readonly unknown[]): boolean {
    const faults = errors.map(faultOf);
    if (faults.length === 0 || !faults.every((fault) => DOUBTFUL.has(fault))) return false;
    const slow = faults.includes('slow');
    // Of one event alone it is known only when it fails again and again; a slow one has done so by now.
    if (faults.length === 1) return !slow && this.strikes + 1 < this.most;
    return this.strikes + 1 < (slow ? Math.min(SLOW_STRIKES_TOGETHER, this.mostTogether) : this.mostTogether);
  }
}

/**
 * Handles events in a savepoint, which is undone when they cannot be applied. Returns the error then.
 * @throws errors that no event causes
 */
export async function failureOf(
  events: Recorded[],
  tx: PoolClient,
  handle: BatchHandler,
): Promise<{ readonly of: unknown } | undefined> {
  await tx.query('savepoint part');
  try {
    await handle(events, tx);
    await tx.query('release savepoint part');
    return undefined;
  } catch (error) {
    if (faultOf(error) === 'surroundings') throw error;
    await tx.query('rollback to savepoint part; release savepoint part');
    if (faultOf(error) === 'slow' && !(await answersQuickly(tx))) throw error;
    return { of: error };
  }
}

const DOUBTFUL: ReadonlySet<Fault> = new Set(['unknown', 'slow']);

async function limitStatements(tx: PoolClient, ms: number): Promise<void> {
  await tx.query(
    `select set_config('statement_timeout', $1, true) from pg_settings
     where name = 'statement_timeout' and (setting = '0' or setting::float8 > $1::float8)`,
    [String(Math.floor(ms))],
  );
}

function halves(events: readonly Recorded[]): Recorded[][] {
  if (events.length < 2) return [[...events]];
  const middle = events.length >> 1;
  return [events.slice(0, middle), events.slice(middle)];
}
