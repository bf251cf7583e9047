import type { Recorded } from './event';
import type { Batch, Filter } from './event-store';
import { matches } from './memory-event-store';
import { Wakeups } from './wakeups';

/** Newest events kept in memory. */
const KEPT_EVENTS = 5000;

/**
 * The newest events of the log, read once for all subscriptions of a process. `extend` reads what has been appended
 * since; a subscription that is further behind than the tail reads the log itself.
 */
export class LogTail {
  private readonly wakeups = new Wakeups();
  private events: Recorded[] = [];
  /** Position before the first event kept. */
  private start: bigint | undefined;
  private reading: Promise<void> | undefined;
  private again = false;
  private failure: unknown;

  constructor(
    private readonly head: () => Promise<bigint>,
    private readonly readAfter: (position: bigint) => Promise<Batch>,
  ) {}

  /** Taken before looking; `wait` then sees what came while looking. */
  get count(): number {
    return this.wakeups.count;
  }

  /** Events after `position`, at most `most`, or undefined when the tail does not reach back that far. */
  after(position: bigint, most: number, filter: Filter): Batch | undefined {
    if (this.start === undefined || position < this.start || position > this.end()) return undefined;
    const first = Number(position - this.start);
    const events = this.events.slice(first, first + most);
    return {
      events: filter.categories ? events.filter((event) => matches(event, filter)) : events,
      position: events.at(-1)?.position ?? position,
    };
  }

  /** Waits until there may be events after `position`, at most `ms` milliseconds. Rejects when the log cannot be read. */
  async wait(position: bigint, signal: AbortSignal, ms: number, count: number): Promise<void> {
    await this.extend();
    if (this.failure !== undefined) throw this.failure;
    if (this.end() <= position) await this.wakeups.next(signal, ms, count);
  }

  /** Reads what has been appended since and wakes those who wait. Never rejects: those who wait learn of a failure. */
  extend(): Promise<void> {
    this.again = true;
    this.reading ??= this.read().finally(() => (this.reading = undefined));
    return this.reading;
  }

  private async read(): Promise<void> {
    try {
      this.start ??= await this.head();
      while (this.again) {
        this.again = false;
        const { events } = await this.readAfter(this.end());
        if (events.length === 0) continue;
        this.again = true;
        this.keep(events);
        this.wakeups.wake();
      }
      this.failure = undefined;
    } catch (error) {
      this.failure = error;
    }
  }

  private keep(events: Recorded[]): void {
    this.events.push(...events);
    if (this.events.length <= KEPT_EVENTS) return;
    const dropped = this.events.length - KEPT_EVENTS / 2;
    this.events = this.events.slice(dropped);
    this.start! += BigInt(dropped);
  }

  private end(): bigint {
    return (this.start ?? -1n) + BigInt(this.events.length);
  }
}
