import type { Pool } from 'pg';
import { checkAppend } from './append-limit';
import { AppendQueue, TIME } from './append-queue';
import { categoryOf, type Metadata, type Recorded } from '../core/event';
import {
  type Appended,
  type Batch,
  EventStore,
  type Filter,
  matches,
  type NewEvent,
  type Wanted,
} from '../core/event-store';
import { Listener } from '../followers/listener';
import { type LogPart, LogTail } from '../followers/log-tail';
import { traceStep } from '../core/tracing';

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

/** Largest number of events of one read of the log; a subscription that is far behind reads in larger steps. */
const BATCH_EVENTS = 1000;
const CATCH_UP_EVENTS = 5000;
/** A read of the log ends with the event whose data exceed this number of bytes: a batch is held in memory. */
const BATCH_BYTES = 16 * 1024 * 1024;
/** Least number of events of a read when they are large. */
const LEAST_EVENTS = 16;
/** Number of events of the first read of a stream; most streams are shorter. */
const FIRST_EVENTS = 250;
/** Interval of reads without a notification (ms), because a notification can be lost with its connection. */
const POLL_MS = 1000;

const EVENT = `"position", stream, version, id, type, data, metadata, ${TIME}`;
const SIZES = (order: string) =>
  `sum(octet_length(data::text)) over (order by ${order}) as bytes, octet_length(data::text) as own`;
/** At most `$3` events, and of these no more than `BATCH_BYTES` allow. */
const READ_STREAM = {
  name: 'read stream',
  text: `with wanted as (
      select ${EVENT}, ${SIZES('version')} from events where stream = $1 and version > $2 and version <= $2 + $3::int)
    select * from wanted where bytes - own <= ${BATCH_BYTES} order by version`,
};
const READ_NEWEST = {
  name: 'read newest of stream',
  text: `select ${EVENT} from events where stream = $1 order by version desc limit $2`,
};
const READ_LOG = {
  name: 'read log',
  text: `with log as (select max("position") as head from events),
    wanted as (
      select ${EVENT}, ${SIZES('"position"')}
      from log, events
      where "position" > $1 and "position" <= least($1 + $2::int, log.head)
        and ($3::text[] is null or split_part(stream, '-', 1) = any($3))
        and ($4::text[] is null or type = any($4)))
    select log.head, wanted.*
    from log left join wanted on bytes - own <= ${BATCH_BYTES}
    order by "position"`,
};

/**
 * The event store on PostgreSQL (tables of `EventStoreTables`). Waiting appends of this process are sent as one commit;
 * each has its own expected version. Call `close` to end the listening connection.
 */
export class PostgresEventStore extends EventStore {
  private readonly appends: AppendQueue;
  private readonly tail: LogTail;
  private readonly listener: Listener;
  /** Number of positions that the next read of the log looks at, at most. */
  private step = CATCH_UP_EVENTS;
  private connections = 0;

  constructor(private readonly pool: Pool) {
    super();
    this.tail = new LogTail(
      () => this.newest(),
      (position) => this.readLog(position, {}, BATCH_EVENTS),
    );
    this.appends = new AppendQueue(pool, (events) => this.tail.offer(events));
    this.listener = new Listener(pool, 'events', (head) => void this.notified(head));
  }

  /** Stops listening. Subscriptions then poll until their signal aborts. */
  async close(): Promise<void> {
    await this.listener.close();
  }

  override async append(
    stream: string,
    expectedVersion: number | 'any',
    events: readonly NewEvent[],
    metadata: Metadata,
  ): Promise<Appended> {
    const texts = checkAppend(stream, events, metadata);
    const attributes = { 'fairlead.category': categoryOf(stream), 'fairlead.events': events.length };
    return traceStep('append', attributes, () => this.appends.append(stream, expectedVersion, events, metadata, texts));
  }

  override async read(stream: string, after = 0): Promise<Recorded[]> {
    const events: Recorded[] = [];
    for await (const part of this.parts(stream, after)) events.push(...part);
    return events;
  }

  override async *parts(stream: string, after = 0): AsyncIterable<Recorded[]> {
    for (let [version, step] = [after, FIRST_EVENTS]; ;) {
      const { rows } = await this.pool.query<Row & { bytes: string }>({
        ...READ_STREAM,
        values: [stream, version, step],
      });
      const last = rows.at(-1);
      if (last) yield rows.map(toEvent);
      const isCut = Number(last?.bytes) > BATCH_BYTES;
      if (!last || (rows.length < step && !isCut)) return;
      version = last.version;
      // The database looks at all events of a step, whatever it returns of them.
      step = isCut ? Math.max(LEAST_EVENTS, 2 * rows.length) : Math.min(BATCH_EVENTS, 4 * step);
    }
  }

  override async latest(stream: string, count: number): Promise<Recorded[]> {
    const { rows } = await this.pool.query<Row>({ ...READ_NEWEST, values: [stream, count] });
    return rows.map(toEvent).reverse();
  }

  /**
   * As declared. It also rejects once the database was unavailable, because a crash may have undone what subscribers
   * wrote without waiting for the disk.
   */
  override async *subscribe(position: bigint, signal: AbortSignal, wanted: Wanted = {}): AsyncIterable<Batch> {
    this.listener.open();
    const connections = Math.max(this.connections, 1);
    let ahead: Promise<Batch> | undefined;
    const wants = (events: readonly Recorded[]) => {
      const end = events.at(-1)?.position ?? position;
      if (events.length === 0 || events.some((event) => matches(event, wanted)) || !wanted.passes?.(end)) return true;
      position = end;
      return false;
    };
    while (!signal.aborted) {
      if (this.connections > connections) throw new Error('The connection to the database was lost.');
      const { count } = this.tail;
      const kept = ahead ? undefined : this.tail.after(position, BATCH_EVENTS, wanted);
      const batch = kept ?? (await (ahead ?? this.readLog(position, wanted, BATCH_EVENTS)));
      ahead = undefined;
      if ((kept?.events.length === 0 && wanted.passes?.(kept.position)) || batch.position === position) {
        position = batch.position;
        await this.tail.wait(position, signal, POLL_MS, count, wants);
        continue;
      }
      if (!kept && batch.position - position >= BATCH_EVENTS) {
        // Far behind: the next step is read while this one is handled.
        ahead = this.readLog(batch.position, wanted, CATCH_UP_EVENTS);
        ahead.catch(() => undefined);
      }
      position = batch.position;
      yield batch;
    }
  }

  /** As declared. Events of other processes are then read at once, and not with the next notification. */
  override async head(): Promise<bigint> {
    const head = await this.newest();
    // Most often it is this process that has appended: then what the commit wrote is about to be offered.
    if (this.connections > 0) void this.appends.underWay?.then(() => this.tail.extend(head));
    return head;
  }

  private async newest(): Promise<bigint> {
    const { rows } = await this.pool.query<{ head: string | null }>('select max("position") as head from events');
    return BigInt(rows[0]?.head ?? 0);
  }

  override async at(position: bigint): Promise<Recorded | undefined> {
    const { rows } = await this.pool.query<Row>(`select ${EVENT} from events where "position" = $1`, [position]);
    return rows[0] && toEvent(rows[0]);
  }

  /** Appends an event with the function of every append, waits at most 2 s for its lock, and rolls back. */
  override async ready(): Promise<void> {
    const client = await this.pool.connect();
    let broken: Error | undefined;
    try {
      await client.query(`begin; set local lock_timeout = '2s'`);
      await client.query(
        `select append_events(array['readiness-check'], array[-1], array['{}'], array[1], array[1],
                              array[gen_random_uuid()], array['Checked'], array['{}'])`,
      );
    } finally {
      await client.query('rollback').catch((error: Error) => (broken = error));
      client.release(broken);
    }
  }

  private async notified(head?: string): Promise<void> {
    if (head === undefined) this.connections += 1;
    // Most often it is this process that has appended: then what the commit wrote is about to be offered.
    await this.appends.underWay;
    if (head) this.tail.hear(BigInt(head));
    else await this.tail.extend();
  }

  /** Returns the log after `position`, as far as one read of at most `most` positions goes. */
  private async readLog(position: bigint, filter: Filter, most: number): Promise<LogPart> {
    const step = Math.min(most, this.step);
    const { rows } = await this.pool.query<Row & { head: string | null; bytes: string | null }>({
      ...READ_LOG,
      values: [position, step, filter.categories ?? null, filter.types ?? null],
    });
    const head = BigInt(rows[0]?.head ?? 0);
    const end = position + BigInt(step);
    const events = rows.filter((row) => row.position !== null).map(toEvent);
    const isCut = Number(rows.at(-1)?.bytes) > BATCH_BYTES;
    // The database looks at all events of a step, whatever it returns of them.
    this.step = isCut
      ? Math.max(LEAST_EVENTS, 2 * events.length)
      : Math.max(this.step, Math.min(CATCH_UP_EVENTS, 2 * step));
    if (isCut) return { events, position: events.at(-1)!.position, head };
    return { events, position: head > position ? (end < head ? end : head) : position, head };
  }
}

function toEvent(row: Row): Recorded {
  const { stream, version, id, type, data, metadata, time } = row;
  return { id, stream, version, position: BigInt(row.position), time, type, data, metadata };
}
