import type { PoolClient } from 'pg';
import { latencyOf } from '../common/sql';
import { lockStored, storeFeedbackStats } from '../feedback/feedback.projection';
import { type Usage, USAGE_MEMBERS } from '../common/run-usage';
import { latencyIn } from './latency-buckets';
import { recount } from './recounts.store';
import type { TraceCounts } from './trace-counts.projection';

/** Time after which counting a session anew is left to a worker (ms). */
const RECOUNT_MS = 200;
/** Root runs of a session up to which its latencies are exact. */
const MOST_EXACT = 10_000;

const TYPES = {
  ...{ run_count: 'int', latency_p50: 'float8', latency_p99: 'float8', error_rate: 'float8' },
  last_run_start_time: 'timestamptz',
  ...(Object.fromEntries(USAGE_MEMBERS.map((name) => [name, 'numeric'])) as Record<keyof Usage, string>),
};
const NAMES = Object.keys(TYPES) as (keyof typeof TYPES)[];

/** SQL: statistics as one text, which tells when a process that keeps no counts has changed them. */
const asText = (row: string) =>
  `concat_ws(' ', ${NAMES.map((name) => (name === 'last_run_start_time' ? `extract(epoch from ${row}.${name})` : `${row}.${name}`)).join(', ')})`;

const KNOWN = `
  select ${asText('s')} as statistics, ${asText('s')} is not distinct from s.counted_as as known, s.feedback_stats is not null as fed_back
  from sessions s where s.id = $1 and s.tenant_id = $2`;

interface Known {
  readonly statistics: string;
  readonly known: boolean;
  readonly fed_back: boolean;
}

interface Total {
  readonly runs: number;
  readonly errors: number;
  readonly p50: number | null;
  readonly p99: number | null;
}

const TOTAL = `
  with c as (
    select *, sum(runs) filter (where bucket >= 0) over (order by bucket) as upto,
      sum(runs) filter (where bucket >= 0) over () as ended
    from trace_counts where session_id = $1 and tenant_id = $2 and unit = 'all')
  select coalesce(sum(runs), 0)::float8 as runs, coalesce(sum(errors), 0)::float8 as errors,
    min(bucket) filter (where upto >= ended * 0.5)::int as p50, min(bucket) filter (where upto >= ended * 0.99)::int as p99,
    ${USAGE_MEMBERS.map((name) => `case when sum(${name}_known) > 0 then trim_scale(sum(${name}))::text end as ${name}`).join(', ')}
  from c`;
const NEWEST = `
  select max(start_time)::text as newest from runs where session_id = $1 and tenant_id = $2 and parent_run_id is null`;
const LATENCIES = `
  select percentile_cont(0.5) within group (order by ${latencyOf('')}) as latency_p50,
    percentile_cont(0.99) within group (order by ${latencyOf('')}) as latency_p99
  from runs where session_id = $1 and tenant_id = $2 and parent_run_id is null`;
const STORE = `
  update sessions s set (${NAMES.join(', ')}) = row(n.*), counted_as = ${asText('n')}
  from (select ${NAMES.map((name, nth) => `$${nth + 3}::${TYPES[name]} as ${name}`).join(', ')}) n
  where s.id = $1 and s.tenant_id = $2`;

/**
 * Stores the counts and the statistics of a live session over the roots of its traces; an upload's come with its runs.
 * Beyond 10,000 root runs the latencies come from the counts as well, so that a batch costs the same in any session.
 * Counting a session anew ends after `ms` milliseconds; its statistics stay as they are until a worker has counted the rest.
 */
export async function refreshRunStats(
  tx: PoolClient,
  tenant: string | null,
  session: string,
  counts: TraceCounts,
  ms = RECOUNT_MS,
): Promise<void> {
  if (!(await lockStored(tx, tenant, session))) return;
  const read = async <T>(text: string) => (await tx.query(text, [session, tenant])).rows[0] as T;
  const { statistics: stored, known, fed_back } = await read<Known>(KNOWN);
  if (known) await counts.store(tx, tenant, session);
  else if (!(await recount(tx, tenant, session, counts, stored, ms))) return;
  const { runs, errors, p50, p99, ...usage } = await read<Total & Usage>(TOTAL);
  const { newest } = await read<{ newest: string | null }>(NEWEST);
  const near = { latency_p50: latencyIn(p50), latency_p99: latencyIn(p99) };
  const statistics = {
    run_count: runs,
    ...(runs > MOST_EXACT ? near : await read<typeof near>(LATENCIES)),
    error_rate: runs > 0 ? errors / runs : null,
    last_run_start_time: newest,
    ...usage,
  };
  await tx.query(STORE, [session, tenant, ...NAMES.map((name) => statistics[name])]);
  if (!fed_back) await storeFeedbackStats(tx, tenant, session);
}
