import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type Batch, type Filter, KeptEvents, matches, Wakeups } from '@fairlead/eventing';
import type { EventStoreDbConnection } from './connection';
import type { EventStoreDbContinuity } from './continuity';
import type { EventStoreDbDeletedStreams } from './deleted-streams';
import { EventStoreDbSubscription } from './subscription';

/** Time without an event after which a subscription is compared with the log, because it may hang (ms). */
const QUIET_MS = 3000;
const RETRY_MS = { first: 50, most: 1000 };

/**
 * Keeps the newest events of an EventStoreDB log. All subscriptions of a process share its one subscription, which it
 * renews when it was dropped.
 */
export class EventStoreDbTail {
  private readonly wakeups = new Wakeups();
  private readonly stop = new AbortController();
  private readonly kept = new KeptEvents();
  /** Position before the first of the kept events, which contain everything up to `end`. */
  private start: bigint | undefined;
  private end = 0n;
  private failure: unknown;
  private running: Promise<void> | undefined;

  constructor(
    private readonly connection: EventStoreDbConnection,
    private readonly continuity: EventStoreDbContinuity,
    private readonly deleted: EventStoreDbDeletedStreams,
    private readonly head: () => Promise<bigint>,
  ) {
    setMaxListeners(0, this.stop.signal);
  }

  open(): void {
    this.running ??= this.listen();
  }

  async close(): Promise<void> {
    this.stop.abort();
    await this.running;
  }

  /** Counts what came. Read it before looking for events, and pass it to `wait`, which then misses none. */
  get count(): number {
    return this.wakeups.count;
  }

  get isOpen(): boolean {
    return this.start !== undefined;
  }

  reaches(position: bigint): boolean {
    return this.start !== undefined && position >= this.start;
  }

  /** Returns at most `most` events after `position`; undefined when the tail begins later. */
  after(position: bigint, most: number, filter: Filter): Batch | undefined {
    if (!this.reaches(position)) return undefined;
    const first = this.indexAfter(position);
    const events = this.kept.all.slice(first, first + most);
    const reached = first + most < this.kept.all.length ? events.at(-1)!.position : this.end;
    return { events: events.filter((event) => matches(event, filter)), position: reached };
  }

  /** Waits for new events, at most `ms` milliseconds. Rejects when the subscription fails. */
  async wait(signal: AbortSignal, ms: number, count: number): Promise<void> {
    if (this.failure === undefined) await this.wakeups.next(signal, ms, count);
    if (this.failure !== undefined) throw this.failure as Error;
  }

  private async listen(): Promise<void> {
    const { signal } = this.stop;
    for (let pause = RETRY_MS.first; !signal.aborted; pause = Math.min(pause * 2, RETRY_MS.most)) {
      try {
        // In each round, because it compares the log.
        const newest = await this.head();
        this.start ??= this.end = newest;
        const subscription = await EventStoreDbSubscription.to(this.connection, this.end, {});
        this.deleted.load();
        this.failure = undefined;
        pause = RETRY_MS.first;
        this.wakeups.wake();
        await this.hear(subscription).finally(() => {
          this.continuity.doubt();
          subscription.close();
        });
      } catch (error) {
        this.failure = error;
        this.wakeups.wake();
      }
      await delay(pause, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Adds the events of a subscription until it is dropped or hangs. */
  private async hear(subscription: EventStoreDbSubscription): Promise<void> {
    const { signal } = this.stop;
    let missed = 0n;
    while (!signal.aborted) {
      const heard = await subscription.next(QUIET_MS, signal).catch(() => undefined);
      if (!heard) return;
      for (const mark of heard.marks) this.deleted.note(mark);
      if (heard.position > this.end) this.keep(heard);
      else if (missed > this.end) return;
      else if (heard.events.length === 0 && !heard.caughtUp && !signal.aborted) missed = await this.head();
    }
  }

  private keep({ events, position }: Batch): void {
    const dropped = this.kept.add(events).at(-1);
    this.continuity.note(events.at(-1));
    this.end = position;
    if (dropped) this.start = dropped.position;
    this.wakeups.wake();
  }

  private indexAfter(position: bigint): number {
    let [low, high] = [0, this.kept.all.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.kept.all[middle]!.position > position) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
