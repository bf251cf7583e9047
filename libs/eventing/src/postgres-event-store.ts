import type { Pool, QueryResult } from 'pg';
import { v7 as uuid } from 'uuid';
import type { Metadata, Recorded } from './event';
import { type Appended, type Batch, EventStore, type Filter, type NewEvent, VersionConflict } from './event-store';
import { matches } from './memory-event-store';
import { Listener } from './listener';
import { unreachable } from './unreachable';
import { Wakeups } from './wakeups';

interface Waiting {
  readonly stream: string;
  readonly expected: number;
  readonly events: readonly (NewEvent & { id: string })[];
  readonly metadata: Metadata;
  resolve(appended: Appended): void;
  reject(error: unknown): void;
}

interface Row {
  position: string;
  stream: string;
  version: number;
  id: string;
  type: string;
  data: unknown;
  metadata: Metadata;
  time: string;
}

interface Outcome {
  append: number;
  outcome: 'appended' | 'repeated' | 'conflict';
  version: number;
  position: string;
  time: string;
}

/** Most events one commit carries; a larger append goes alone. */
const COMMIT_EVENTS = 1000;
/** Events one read of the log returns at most. */
const BATCH_EVENTS = 1000;
/** Newest events kept in memory, so that followers that are nearly there share one read. */
const TAIL_EVENTS = 5000;
/** A notification can be lost with its connection; then this bounds the delay. */
const POLL_MS = 1000;
/** An append whose connection broke is sent again, with the same ids, for this long. */
const RETRY_MS = 5000;

const TIME = `to_char("time" at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const EVENT = `"position", stream, version, id, type, data, metadata, ${TIME} as "time"`;

/**
 * The event store on PostgreSQL (tables of `EventStoreTables`). Appends waiting in this process are sent as one
 * commit, each still judged by its own expected version. Call `close` to end the listening connection.
 */
export class PostgresEventStore extends EventStore {
  private queue: Waiting[] = [];
  private sending = false;
  private readonly wakeups = new Wakeups();
  private readonly listener: Listener;
  private tail: Recorded[] = [];
  private tailStart: bigint | undefined;
  private reading: Promise<void> | undefined;
  private readAgain = false;
  private failure: unknown;

  constructor(private readonly pool: Pool) {
    super();
    this.listener = new Listener(pool, 'events', () => void this.extendTail());
  }

  /** Stops listening; subscriptions then poll until their signal aborts. */
  async close(): Promise<void> {
    await this.listener.close();
  }

  override append(
    stream: string,
    expectedVersion: number | 'any',
    events: readonly NewEvent[],
    metadata: Metadata,
  ): Promise<Appended> {
    if (events.length === 0) return Promise.reject(new Error('An append needs at least one event.'));
    return new Promise((resolve, reject) => {
      const expected = expectedVersion === 'any' ? -1 : expectedVersion;
      const identified = events.map((event) => ({ ...event, id: event.id ?? uuid() }));
      this.queue.push({ stream, expected, events: identified, metadata, resolve, reject });
      if (!this.sending) void this.sendQueue();
    });
  }

  override async read(stream: string, after = 0): Promise<Recorded[]> {
    const { rows } = await this.pool.query<Row>({
      name: 'read stream',
      text: `select ${EVENT} from events where stream = $1 and version > $2 order by version`,
      values: [stream, after],
    });
    return rows.map(toEvent);
  }

  override async *subscribe(position: bigint, signal: AbortSignal, filter: Filter = {}): AsyncIterable<Batch> {
    this.listener.open();
    while (!signal.aborted) {
      const { count } = this.wakeups;
      const batch = this.fromTail(position, filter) ?? (await this.readLog(position, filter));
      if (batch.position === position) {
        await this.extendTail();
        if (this.failure !== undefined) throw this.failure;
        if (this.tailEnd() <= position) await this.wakeups.next(signal, POLL_MS, count);
        continue;
      }
      position = batch.position;
      yield batch;
    }
  }

  override async head(): Promise<bigint> {
    const { rows } = await this.pool.query<{ head: string | null }>('select max("position") as head from events');
    return BigInt(rows[0]?.head ?? 0);
  }

  private async sendQueue(): Promise<void> {
    this.sending = true;
    try {
      while (this.queue.length > 0) await this.commit(this.nextCommit());
    } finally {
      this.sending = false;
    }
  }

  /** Appends for one commit: the oldest, each stream once; the others stay in order for the next. */
  private nextCommit(): Waiting[] {
    const streams = new Set<string>();
    const chosen: Waiting[] = [];
    const left: Waiting[] = [];
    let events = 0;
    for (const waiting of this.queue) {
      if (streams.has(waiting.stream) || (events > 0 && events + waiting.events.length > COMMIT_EVENTS)) {
        left.push(waiting);
        streams.add(waiting.stream);
      } else {
        chosen.push(waiting);
        streams.add(waiting.stream);
        events += waiting.events.length;
      }
    }
    this.queue = left;
    return chosen;
  }

  private async commit(appends: Waiting[]): Promise<void> {
    let outcomes: Outcome[];
    try {
      outcomes = await this.sendAppends(appends);
    } catch (error) {
      if (appends.length === 1 || unreachable(error)) {
        for (const append of appends) append.reject(error);
      } else {
        // One of them cannot be stored: it must not fail the others.
        for (const append of appends) await this.commit([append]);
      }
      return;
    }
    for (const outcome of outcomes) {
      const append = appends[outcome.append - 1]!;
      if (outcome.outcome === 'conflict') {
        append.reject(new VersionConflict(append.stream, append.expected, outcome.version));
      } else {
        append.resolve({ version: outcome.version, position: BigInt(outcome.position), time: outcome.time });
      }
    }
    void this.extendTail();
  }

  private async sendAppends(appends: Waiting[]): Promise<Outcome[]> {
    const events = appends.flatMap((append, index) =>
      append.events.map((event, nth) => ({ event, append: index + 1, nth: nth + 1 })),
    );
    const values = [
      appends.map(({ stream }) => stream),
      appends.map(({ expected }) => expected),
      appends.map(({ metadata }) => JSON.stringify(metadata)),
      events.map(({ append }) => append),
      events.map(({ nth }) => nth),
      events.map(({ event }) => event.id),
      events.map(({ event }) => event.type),
      events.map(({ event }) => JSON.stringify(event.data)),
    ];
    const text = `select append, outcome, version, "position", ${TIME} as "time" from append_events($1, $2, $3, $4, $5, $6, $7, $8)`;
    const deadline = Date.now() + RETRY_MS;
    for (let pause = 20; ; pause *= 2) {
      try {
        const result: QueryResult<Outcome> = await this.pool.query({ name: 'append events', text, values });
        return result.rows;
      } catch (error) {
        if (!unreachable(error) || Date.now() + pause > deadline) throw error;
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }

  /** The log after `position`, as far as one read goes. */
  private async readLog(position: bigint, filter: Filter): Promise<Batch> {
    const { rows } = await this.pool.query<Row & { head: string | null }>({
      name: 'read log',
      text: `with log as (select max("position") as head from events)
        select log.head, ${EVENT}
        from log left join events
          on "position" > $1 and "position" <= least($1 + $2::int, log.head)
         and ($3::text[] is null or split_part(stream, '-', 1) = any($3))
        order by "position"`,
      values: [position, BATCH_EVENTS, filter.categories ?? null],
    });
    const head = BigInt(rows[0]?.head ?? 0);
    const end = position + BigInt(BATCH_EVENTS);
    const events = rows.filter((row) => row.position !== null).map(toEvent);
    return { events, position: head > position ? (end < head ? end : head) : position };
  }

  private tailEnd(): bigint {
    return (this.tailStart ?? -1n) + BigInt(this.tail.length);
  }

  private fromTail(position: bigint, filter: Filter): Batch | undefined {
    if (this.tailStart === undefined || position < this.tailStart || position > this.tailEnd()) return undefined;
    const first = Number(position - this.tailStart);
    const events = this.tail.slice(first, first + BATCH_EVENTS);
    return {
      events: filter.categories ? events.filter((event) => matches(event, filter)) : events,
      position: events.at(-1)?.position ?? position,
    };
  }

  /** Reads what has been appended since, once for all subscriptions of this process, and wakes them. */
  private extendTail(): Promise<void> {
    this.readAgain = true;
    this.reading ??= this.readTail().finally(() => (this.reading = undefined));
    return this.reading;
  }

  private async readTail(): Promise<void> {
    try {
      this.tailStart ??= await this.head();
      while (this.readAgain) {
        this.readAgain = false;
        const { events } = await this.readLog(this.tailEnd(), {});
        if (events.length === 0) continue;
        this.readAgain = true;
        this.tail.push(...events);
        if (this.tail.length > TAIL_EVENTS) {
          const dropped = this.tail.length - TAIL_EVENTS / 2;
          this.tail = this.tail.slice(dropped);
          this.tailStart += BigInt(dropped);
        }
        this.wakeups.wake();
      }
    } catch (error) {
      // A subscription that needs what could not be read asks again and tells its follower.
      this.failure = error;
      return;
    }
    this.failure = undefined;
  }
}

function toEvent(row: Row): Recorded {
  const { stream, version, id, type, data, metadata, time } = row;
  return { id, stream, version, position: BigInt(row.position), time, type, data, metadata };
}
