import type { Recorded } from '../core/event';
import { type Batch, type Filter, matches } from '../core/event-store';
import { Wakeups } from './wakeups';
import { KeptEvents } from './kept-events';

/**
 * Pause between reads of events of other processes (ms): many appends a second are then read in fewer and larger
 * batches.
 */
const PACE_MS = 50;

export interface LogPart extends Batch {
  readonly head: bigint;
}

/**
 * Keeps the newest events of the log, which are read once for all subscriptions of a process. `extend` reads what was
 * appended since. A subscription that is further behind reads the log itself.
 */
export class LogTail {
  private readonly wakeups = new Wakeups<readonly Recorded[]>();
  private readonly kept = new KeptEvents();
  private start: bigint | undefined;
  private reading: Promise<void> | undefined;
  private again = false;
  private known = 0n;
  private failure: unknown;
  /** Time of the last read (ms, clock of the process). */
  private lastRead = -Infinity;
  /** Position that other processes have announced; it is read when `pacing` ends. */
  private heard = 0n;
  private pacing: NodeJS.Timeout | undefined;

  constructor(
    private readonly head: () => Promise<bigint>,
    private readonly readAfter: (position: bigint) => Promise<LogPart>,
  ) {}

  /** Number of wakes. Taken before a check, it lets `wait` notice what came during the check. */
  get count(): number {
    return this.wakeups.count;
  }

  /** Returns at most `most` events after `position`; undefined when the tail does not reach back that far. */
  after(position: bigint, most: number, filter: Filter): Batch | undefined {
    if (this.start === undefined || position < this.start || position > this.end()) return undefined;
    const first = Number(position - this.start);
    const events = this.kept.all.slice(first, first + most);
    return {
      events: filter.categories || filter.types ? events.filter((event) => matches(event, filter)) : events,
      position: events.at(-1)?.position ?? position,
    };
  }

  /**
   * Waits until there may be events after `position`, at most `ms` milliseconds. Events for which `wants` returns false
   * do not end it. Rejects when the log cannot be read.
   */
  async wait(
    position: bigint,
    signal: AbortSignal,
    ms: number,
    count: number,
    wants?: (events: readonly Recorded[]) => boolean,
  ): Promise<void> {
    if (this.start === undefined || this.failure !== undefined) await this.extend();
    if (this.end() <= position) await this.wakeups.next(signal, ms, count, wants);
    // Not woken: a notification may have been lost.
    if (this.end() <= position && !signal.aborted) await this.extend();
    if (this.failure !== undefined) throw this.failure as Error;
  }

  /** Adds events that this process has just committed, without reading them back, when they directly follow. */
  offer(events: readonly Recorded[]): void {
    const first = events[0];
    if (first && this.start !== undefined && first.position === this.end() + 1n) {
      this.keep(events);
      this.wakeups.wake(events);
    } else {
      void this.extend(events.at(-1)?.position);
    }
  }

  /**
   * Notes that another process has appended up to `head`, and reads at once, or {@link PACE_MS} after the last read.
   */
  hear(head: bigint): void {
    if (head > this.heard) this.heard = head;
    if (this.pacing || head <= this.end()) return;
    const due = Math.max(0, this.lastRead + PACE_MS - performance.now());
    this.pacing = setTimeout(() => {
      this.pacing = undefined;
      void this.extend(this.heard);
    }, due).unref();
  }

  /**
   * Reads what was appended since, unless the tail reaches `head` already, and wakes waiting subscriptions. It never
   * rejects: failures are passed to those who wait.
   */
  extend(head?: bigint): Promise<void> {
    if (head === undefined || this.start === undefined) this.again = true;
    else if (head <= this.end()) return Promise.resolve();
    else if (head > this.known) this.known = head;
    this.reading ??= this.read().finally(() => (this.reading = undefined));
    return this.reading;
  }

  private async read(): Promise<void> {
    try {
      this.start ??= await this.head();
      while (this.again || this.known > this.end()) {
        this.again = false;
        const from = this.end();
        this.lastRead = performance.now();
        const { events, position, head } = await this.readAfter(from);
        // What this process committed meanwhile may have been offered already.
        const news = events.filter((event) => event.position > this.end());
        this.keep(news);
        if (position > from) {
          this.wakeups.wake(news);
          // A read ends early where events are large.
          if (head > this.known) this.known = head;
        } else this.known = from;
      }
      this.failure = undefined;
    } catch (error) {
      this.failure = error;
    }
  }

  private keep(events: readonly Recorded[]): void {
    this.start! += BigInt(this.kept.add(events).length);
  }

  private end(): bigint {
    return (this.start ?? -1n) + BigInt(this.kept.all.length);
  }
}
