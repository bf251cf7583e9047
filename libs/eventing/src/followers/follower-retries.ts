import { nested, transaction } from '@fairlead/postgres';
import type { Pool, PoolClient } from 'pg';
import type { Recorded } from '../core/event';
import { type EventStore, matches } from '../core/event-store';
import { faultOf } from '../core/faults';
import type { Projection } from './projection';
import type { ParkedSubject, ParkedSubjects } from './parked-subjects';
import { type Patience, POLL_MS, reasonOf, Retries } from './retries';
import { failureOf } from './set-aside';

/** Pace of retries: a follower stops while one of its streams is tried again. */
const PACE = { most: 10, pauses: 3 };
const CHUNK_EVENTS = 100;

/**
 * Retries the streams that followers have set aside, when they are due. The follower stops meanwhile, in all processes.
 */
export class FollowerRetries extends Retries {
  constructor(
    private readonly store: EventStore,
    private readonly pool: Pool,
    parked: ParkedSubjects,
    patience: Patience,
    private readonly followers: ReadonlyMap<string, Projection>,
  ) {
    super(parked, patience, PACE, 'Followers');
  }

  protected names(): string[] {
    return [...this.followers.values()].filter(({ setsAside }) => setsAside !== false).map(({ name }) => name);
  }

  /** Makes one attempt under the lock of the checkpoint, so that the follower does not handle the same stream. */
  protected async retry(parked: ParkedSubject): Promise<void> {
    const { holds = 1 } = this.followers.get(parked.consumer)!;
    await nested(this.pool, holds, () => transaction(this.pool, (tx) => this.retryAlone(parked, tx)));
  }

  private async retryAlone({ id, consumer, attempts, version }: ParkedSubject, tx: PoolClient): Promise<void> {
    // Locks the row, and gives the view another version: the retry changes its tables.
    const { rows } = await tx.query<{ position: string }>(
      'update checkpoints set name = name where name = $1 returning "position"',
      [consumer],
    );
    const current = await this.parked.find(id, tx);
    // Another process may have tried it since it was found to be due.
    if (!rows[0] || current?.attempts !== attempts || current.version !== version) return;
    await this.attempt(current, BigInt(rows[0].position), tx);
  }

  private async attempt(parked: ParkedSubject, until: bigint, tx: PoolClient): Promise<void> {
    const { id, consumer, subject, version } = parked;
    const place = { type: parked.event_type, version };
    const begun = await this.parked.begin(id);
    if (begun > this.patience.attempts) return this.failed(parked, place, begun, parked.reason, tx);
    let failure: Awaited<ReturnType<typeof this.handle>>;
    try {
      const events = (await this.store.read(subject, version - 1)).filter(
        (event) => event.position <= until && matches(event, this.followers.get(consumer)!),
      );
      failure = await this.handle(consumer, events, tx);
    } catch (error) {
      if (faultOf(error) === 'event') return this.failed(parked, place, begun, reasonOf(error), tx);
      // What all events need is away: that does not count.
      await this.parked.failed(id, place, begun - 1, reasonOf(error), POLL_MS);
      throw error;
    }
    if (failure) {
      const attempts = failure.event.version > version ? 1 : begun;
      return this.failed(parked, failure.event, attempts, reasonOf(failure.error), tx);
    }
    await tx.query('delete from parked_subjects where id = $1', [id]);
    this.logger.log(`${consumer} goes on with ${subject}`);
  }

  /** Handles events in order. Returns the first one that cannot be applied. @throws errors that no event causes */
  private async handle(consumer: string, events: readonly Recorded[], tx: PoolClient) {
    const { handle } = this.followers.get(consumer)!;
    for (let start = 0; start < events.length; start += CHUNK_EVENTS) {
      const chunk = events.slice(start, start + CHUNK_EVENTS);
      if (!(await failureOf(chunk, tx, handle))) continue;
      for (const event of chunk) {
        const failure = await failureOf([event], tx, handle);
        if (failure) return { event, error: failure.of };
      }
    }
    return undefined;
  }
}
