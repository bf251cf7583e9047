import { Logger } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import type { Recorded } from './event';
import { type EventStore, matches } from './event-store';
import { faultOf } from './faults';
import type { Projection } from './followers';
import { pauseAfter, type Patience, reasonOf } from './parked-retries';
import type { ParkedSubject, ParkedSubjects } from './parked-subjects';
import { Wakeups } from './wakeups';

const POLL_MS = 1000;
/** Streams tried again before there is a pause. */
const DUE = 10;
/** A follower stands still while one of its streams is tried again: pauses are so many times as long as that took. */
const PAUSES = 3;
const CHUNK_EVENTS = 100;

/** Tries again what followers have set aside, when it is due; the follower itself stands still meanwhile, in all processes. */
export class FollowerRetries {
  private readonly logger = new Logger('Followers');
  private readonly stopping = new AbortController();
  private readonly wakeups = new Wakeups();
  private ended: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: EventStore,
    private readonly pool: Pool,
    private readonly parked: ParkedSubjects,
    private readonly patience: Patience,
    private readonly followers: ReadonlyMap<string, Projection>,
  ) {}

  start(): void {
    this.ended = this.retryUntilStopped();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.ended;
  }

  /** Says that something has been set aside. */
  wake(): void {
    this.wakeups.wake();
  }

  private async retryUntilStopped(): Promise<void> {
    const { signal } = this.stopping;
    const { firstMs } = this.patience;
    while (!signal.aborted) {
      const { count } = this.wakeups;
      const started = performance.now();
      let found = 0;
      try {
        const names = [...this.followers.values()].filter(({ setsAside }) => setsAside !== false);
        const due = await this.parked.due(
          names.map(({ name }) => name),
          DUE,
        );
        found = due.length;
        for (const stream of due) if (!signal.aborted) await this.retry(stream);
      } catch (error) {
        this.logger.warn(`What followers have set aside cannot be tried again: ${reasonOf(error)}`);
      }
      if (found === 0) await this.wakeups.next(signal, POLL_MS, count);
      // What has just been set aside is due after the first pause.
      const pause = found > 0 ? Math.max(firstMs, PAUSES * (performance.now() - started)) : firstMs;
      if (found > 0 || this.wakeups.count !== count) await new Wakeups().next(signal, pause);
    }
  }

  /** One attempt under the lock of the checkpoint, which keeps the follower from going on with the same stream. */
  private async retry({ id, consumer, attempts, version }: ParkedSubject): Promise<void> {
    const client = await this.pool.connect();
    let broken: Error | undefined;
    try {
      await client.query('begin');
      const { rows } = await client.query<{ position: string }>(
        'select "position" from checkpoints where name = $1 for update',
        [consumer],
      );
      const current = await this.parked.find(id, client);
      // Another process may have tried it since it was found to be due.
      if (!rows[0] || current?.attempts !== attempts || current.version !== version) return;
      await this.attempt(current, BigInt(rows[0].position), client);
      await client.query('commit');
    } finally {
      await client.query('rollback').catch((lost: Error) => (broken = lost));
      client.release(broken);
    }
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

  /** Handles events in order; answers the first one that cannot be applied. @throws what is no event's fault */
  private async handle(consumer: string, events: readonly Recorded[], tx: PoolClient) {
    const { handle } = this.followers.get(consumer)!;
    const failureOf = async (part: Recorded[]) => {
      await tx.query('savepoint part');
      try {
        await handle(part, tx);
        await tx.query('release savepoint part');
        return undefined;
      } catch (error) {
        if (faultOf(error) === 'surroundings') throw error;
        await tx.query('rollback to savepoint part; release savepoint part');
        return { event: part[0]!, error };
      }
    };
    for (let start = 0; start < events.length; start += CHUNK_EVENTS) {
      const chunk = events.slice(start, start + CHUNK_EVENTS);
      if (!(await failureOf(chunk))) continue;
      for (const event of chunk) {
        const failure = await failureOf([event]);
        if (failure) return failure;
      }
    }
    return undefined;
  }

  private async failed(
    { id, consumer, subject }: ParkedSubject,
    event: Pick<Recorded, 'type' | 'version'>,
    attempts: number,
    reason: string,
    tx: PoolClient,
  ): Promise<void> {
    const pause = pauseAfter(attempts, this.patience);
    await this.parked.failed(id, event, attempts, reason, pause, tx);
    if (pause !== null) return;
    this.logger.error(
      `${consumer} gave up at ${subject} version ${event.version} after ${attempts} attempts: ${reason}`,
    );
  }
}
