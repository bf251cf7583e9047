import { nested, transaction } from '@fairlead/postgres';
import type { Pool, PoolClient } from 'pg';
import type { ConsumerInbox } from './consumer-inbox';
import type { Recorded } from '../core/event';
import type { EventStore } from '../core/event-store';
import { faultOf } from '../core/faults';
import { CONSUMER_HOLDS } from './inbox';
import type { ParkedSubject, ParkedSubjects } from '../followers/parked-subjects';
import { type Patience, POLL_MS, reasonOf, Retries } from '../followers/retries';

export type EventHandler = (event: Recorded) => Promise<void>;

export interface Consumer {
  readonly type: string;
  readonly handle: EventHandler;
}

/** Pace of retries: an attempt delays its own subject only. */
const PACE = { most: 100, pauses: 0 };

/** Retries parked subjects of consumers when they are due, each in one process at a time. */
export class ParkedRetries extends Retries {
  constructor(
    private readonly store: EventStore,
    private readonly pool: Pool,
    parked: ParkedSubjects,
    private readonly inbox: ConsumerInbox,
    patience: Patience,
    private readonly consumers: ReadonlyMap<string, Consumer>,
  ) {
    super(parked, patience, PACE, 'Consumers');
  }

  protected names(): string[] {
    return [...this.consumers.keys()];
  }

  /** Makes one attempt, unless another process does. A crash of this process frees the lock. */
  protected async retry(parked: ParkedSubject): Promise<void> {
    await nested(this.pool, CONSUMER_HOLDS, () => transaction(this.pool, (tx) => this.retryAlone(parked, tx)));
  }

  private async retryAlone(parked: ParkedSubject, tx: PoolClient): Promise<void> {
    const { rows } = await tx.query<{ mine: boolean }>(
      'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as mine',
      [parked.id],
    );
    const current = rows[0]!.mine ? await this.parked.find(parked.id) : undefined;
    // Another process may have tried it since it was found to be due.
    if (current?.attempts === parked.attempts && current.version === parked.version) await this.attempt(current);
  }

  private async attempt(parked: ParkedSubject): Promise<void> {
    const { id, consumer, subject } = parked;
    const place = { type: parked.event_type, version: parked.version };
    let attempts = await this.parked.begin(id);
    if (attempts > this.patience.attempts) return this.failed(parked, place, attempts, parked.reason);
    const { done } = await this.inbox.standing(consumer, [subject]);
    let handled = Math.max(parked.version - 1, done.get(subject) ?? 0);
    let last: number | undefined = parked.last_version;
    while (last !== undefined) {
      let events: Recorded[];
      try {
        events = await this.waiting(parked, handled, last);
      } catch (error) {
        if (faultOf(error) === 'event') return this.failed(parked, place, attempts, reasonOf(error));
        // The log cannot be read: that does not count.
        await this.parked.failed(id, place, attempts - 1, reasonOf(error), POLL_MS);
        throw error;
      }
      for (const event of events) {
        try {
          await this.consumers.get(consumer)!.handle(event);
        } catch (error) {
          return this.failed(parked, event, attempts, reasonOf(error));
        }
        await this.inbox.note(consumer, new Map([[subject, event.version]]));
        attempts = 1;
      }
      handled = Math.max(handled, last);
      last = await this.parked.release(id, handled);
    }
    this.logger.log(`${consumer} goes on with ${subject}`);
  }

  /** Returns the events of the subject for its consumer, with versions above `handled` and up to `last`. */
  private async waiting({ consumer, subject }: ParkedSubject, handled: number, last: number): Promise<Recorded[]> {
    const { type } = this.consumers.get(consumer)!;
    const events = await this.store.read(subject, handled);
    return events.filter((event) => event.type === type && event.version <= last);
  }
}
