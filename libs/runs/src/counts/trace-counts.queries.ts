import type { Pool, PoolClient } from 'pg';
import { isoTime } from '../common/sql';
import { type CountRange, daysWithin } from './count-range';
import { latencyIn } from './latency-buckets';

interface Counts {
  readonly runs: number;
  readonly errors: number;
  readonly total_tokens: number;
  /** Decimal text. */
  readonly total_cost: string;
  /** Seconds; null when no run has ended. */
  readonly latency_p50: number | null;
  readonly latency_p99: number | null;
}

interface Row {
  readonly key: string;
  readonly runs: string;
  readonly errors: string;
  readonly total_tokens: string;
  readonly total_cost: string;
  readonly p50: number | null;
  readonly p99: number | null;
}

/** The sums of rows of counts by a key. */
const sums = (key: string, conditions: string) => `
  with c as (
    select ${key} as key, bucket, sum(runs) as runs, sum(errors) as errors, sum(total_tokens) as total_tokens,
      sum(total_cost) as total_cost
    from trace_counts c where c.tenant_id = $1 and ${conditions} group by 1, 2),
  p as (
    select *, sum(runs) filter (where bucket >= 0) over (partition by key order by bucket) as upto,
      sum(runs) filter (where bucket >= 0) over (partition by key) as ended from c)
  select key, sum(runs)::text as runs, sum(errors)::text as errors, sum(total_tokens)::text as total_tokens,
    trim_scale(sum(total_cost))::text as total_cost,
    min(bucket) filter (where upto >= ended * 0.5) as p50, min(bucket) filter (where upto >= ended * 0.99) as p99
  from p group by key order by key`;

/** Days where they are whole, and hours at both ends. */
const BY_SESSION = sums(
  'c.session_id',
  `c.session_id = any($2::uuid[]) and (
     c.unit = 'day' and c.time >= $4 and c.time < $5
     or c.unit = 'hour' and c.time >= $3 and c.time < $4 or c.unit = 'hour' and c.time >= $5 and c.time < $6)`,
);
const BY_TIME = sums(isoTime('c.time'), 'c.session_id = $2 and c.unit = $3 and c.time >= $4 and c.time < $5');

/** Counts of sessions over a range; those that have nothing in it are absent. */
export async function countsOfSessions(
  pool: Pool | PoolClient,
  tenantId: string,
  sessions: readonly string[],
  range: CountRange,
): Promise<ReadonlyMap<string, Counts>> {
  const days = daysWithin(range);
  const times = [range.from, days.from, days.to, range.to].map((time) => new Date(time).toISOString());
  const { rows } = await pool.query<Row>(BY_SESSION, [tenantId, sessions, ...times]);
  return new Map(rows.map((row) => [row.key, countsIn(row)]));
}

/** Counts of a session hour by hour, or day by day, the oldest first; what has nothing is absent. */
export async function countsOverTime(
  pool: Pool,
  tenantId: string,
  session: string,
  unit: 'hour' | 'day',
  { from, to }: CountRange,
) {
  const times = [from, to].map((time) => new Date(time).toISOString());
  const { rows } = await pool.query<Row>(BY_TIME, [tenantId, session, unit, ...times]);
  return rows.map((row) => ({ time: row.key, ...countsIn(row) }));
}

export const NOTHING: Counts = {
  ...{ runs: 0, errors: 0, total_tokens: 0, total_cost: '0', latency_p50: null, latency_p99: null },
};

function countsIn(row: Row): Counts {
  return {
    runs: Number(row.runs),
    errors: Number(row.errors),
    total_tokens: Number(row.total_tokens),
    total_cost: row.total_cost,
    latency_p50: latencyIn(row.p50),
    latency_p99: latencyIn(row.p99),
  };
}
