import { Injectable } from '@nestjs/common';
import { Pool, type PoolClient } from 'pg';
import type { Recorded } from '../core/event';

/** A subject (a stream) whose events wait for one consumer or follower, because it failed at one of them. */
export interface ParkedSubject {
  readonly id: string;
  readonly consumer: string;
  readonly subject: string;
  readonly tenant_id: string | null;
  /** `retrying` while it is retried automatically; `parked` when it waits for a retry on request. */
  readonly status: 'retrying' | 'parked';
  /** Type of the failing event. This event and those up to `last_version` wait. */
  readonly event_type: string;
  readonly version: number;
  readonly last_version: number;
  readonly attempts: number;
  readonly reason: string;
  readonly created_at: string;
  readonly failed_at: string;
  readonly retry_at: string | null;
}

interface ParkedCount {
  readonly consumer: string;
  readonly parked: number;
  readonly retrying: number;
}

const LONGEST_REASON = 1000;
/** Limits the length of a reason, which may contain what was sent. */
const told = (reason: string) => reason.slice(0, LONGEST_REASON).replaceAll('\0', '\ufffd');
const TIME = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as ${column}`;
const RECORD = `id, consumer, subject, tenant_id, case when retry_at is null then 'parked' else 'retrying' end as status,
  event_type, version, last_version, attempts, reason, ${TIME('created_at')}, ${TIME('failed_at')}, ${TIME('retry_at')}`;

/** The table of parked subjects. The events stay in the log; a row says which of them wait. */
@Injectable()
export class ParkedSubjects {
  constructor(private readonly pool: Pool) {}

  /** Returns at most `limit` parked subjects with an id above `after`, in the order of their ids. */
  async list(limit: number, after?: string): Promise<ParkedSubject[]> {
    const { rows } = await this.pool.query<ParkedSubject>(
      `select ${RECORD} from parked_subjects where $2::uuid is null or id > $2 order by id limit $1`,
      [limit, after ?? null],
    );
    return rows;
  }

  async find(id: string, db: Pool | PoolClient = this.pool): Promise<ParkedSubject | undefined> {
    const { rows } = await db.query<ParkedSubject>(`select ${RECORD} from parked_subjects where id = $1`, [id]);
    return rows[0];
  }

  /** Makes a subject due at once, with all its attempts again; undefined when it does not exist. */
  async retry(id: string): Promise<ParkedSubject | undefined> {
    const { rows } = await this.pool.query<ParkedSubject>(
      `update parked_subjects set retry_at = now(), attempts = 0 where id = $1 returning ${RECORD}`,
      [id],
    );
    return rows[0];
  }

  async counts(): Promise<ParkedCount[]> {
    const { rows } = await this.pool.query<ParkedCount>(
      `select consumer, count(*) filter (where retry_at is null)::int as parked,
         count(*) filter (where retry_at is not null)::int as retrying
       from parked_subjects group by consumer order by consumer`,
    );
    return rows;
  }

  /** Returns up to `most` due subjects of these consumers, the longest due first. */
  async due(consumers: readonly string[], most: number): Promise<ParkedSubject[]> {
    const { rows } = await this.pool.query<ParkedSubject>({
      name: 'due parked subjects',
      text: `select ${RECORD} from parked_subjects where parked_subjects.retry_at <= now() and consumer = any($1)
        order by parked_subjects.retry_at limit $2`,
      values: [consumers, most],
    });
    return rows;
  }

  /** Parks the subject of an event after its first failure, for a retry in `ms` milliseconds. */
  async park(
    consumer: string,
    { stream, type, version, metadata }: Recorded,
    reason: string,
    ms: number,
    db: Pool | PoolClient = this.pool,
  ): Promise<void> {
    await db.query(
      `insert into parked_subjects
         (consumer, subject, tenant_id, event_type, version, last_version, attempts, reason, retry_at)
       values ($1, $2, $3, $4, $5, $5, 1, $6, now() + $7 * interval '1 ms')
       on conflict (consumer, subject) do update
         set last_version = greatest(parked_subjects.last_version, excluded.last_version)`,
      [consumer, stream, metadata.tenant ?? null, type, version, told(reason), ms],
    );
  }

  /** Adds an event to those that wait; returns false when nothing of the subject waits any more. */
  async queue(consumer: string, subject: string, version: number): Promise<boolean> {
    const { rowCount } = await this.pool.query(
      `update parked_subjects set last_version = greatest(last_version, $3) where consumer = $1 and subject = $2`,
      [consumer, subject, version],
    );
    return rowCount === 1;
  }

  /** Returns the events whose subjects are not parked. The others are recorded as waiting. */
  async withoutWaiting(consumer: string, events: readonly Recorded[], db: PoolClient): Promise<Recorded[]> {
    const newest = new Map(events.map(({ stream, version }) => [stream, version]));
    const { rows } = await db.query<{ subject: string }>(
      `update parked_subjects p set last_version = greatest(p.last_version, given.version)
       from unnest($2::text[], $3::int[]) as given (subject, version)
       where p.consumer = $1 and p.subject = given.subject returning p.subject`,
      [consumer, [...newest.keys()], [...newest.values()]],
    );
    const waiting = new Set(rows.map(({ subject }) => subject));
    return events.filter(({ stream }) => !waiting.has(stream));
  }

  /**
   * Counts an attempt before it begins, so that one that ends the process counts too. Returns the number of attempts.
   */
  async begin(id: string): Promise<number> {
    const { rows } = await this.pool.query<{ attempts: number }>(
      'update parked_subjects set attempts = attempts + 1 where id = $1 returning attempts',
      [id],
    );
    return rows[0]?.attempts ?? 0;
  }

  /** Records a failed attempt, and in how many milliseconds the next one is; null: never. */
  async failed(
    id: string,
    { type, version }: Pick<Recorded, 'type' | 'version'>,
    attempts: number,
    reason: string,
    ms: number | null,
    db: Pool | PoolClient = this.pool,
  ): Promise<void> {
    await db.query(
      `update parked_subjects set event_type = $2, version = $3, attempts = $4, reason = $5, failed_at = now(),
         retry_at = now() + $6 * interval '1 ms' where id = $1`,
      [id, type, version, attempts, told(reason), ms],
    );
  }

  /** Removes the subject when nothing after `version` waits; otherwise returns the newest waiting version. */
  async release(id: string, version: number): Promise<number | undefined> {
    const { rowCount } = await this.pool.query('delete from parked_subjects where id = $1 and last_version <= $2', [
      id,
      version,
    ]);
    return rowCount === 1 ? undefined : (await this.find(id))?.last_version;
  }
}
