import { transaction } from '@fairlead/postgres';
import { countsOfSessions, latencyOf, runUsage, storable } from '@fairlead/runs';
import type { Pool, PoolClient } from 'pg';
import type { Monitor } from './monitor';

/** Longest time of a statement of a look (ms). */
export const STATEMENT_MS = 5000;
const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];
/** Windows that are longer are counted in whole hours, so that a look at many runs reads few rows. */
const MOST_BY_RUN_MS = 12 * HOUR_MS;

/** The value of a measure, and the runs that it is about. */
interface Measured {
  readonly value: number | null;
  readonly runs: number;
}

type Subject = Pick<
  Monitor,
  'tenant_id' | 'project_id' | 'revision_id' | 'measure' | 'feedback_key' | 'window_minutes'
>;

const OF_REVISION = '($5::text is null or revision_of(r.extra) = $5)';

const SCORES = `
  select avg(f.score::numeric)::float8 as value, count(distinct f.run_id)::int as runs from feedback f
  where f.tenant_id = $1 and f.session_id = $2 and f.created_at > $3 and f.created_at <= $4 and f.key = $6
    and f.run_id is not null and f.comparative_experiment_id is null and f.score between -1.7e308 and 1.7e308
    and ($5::text is null
      or exists (select from runs r where r.tenant_id = $1 and r.id = f.run_id and revision_of(r.extra) = $5))`;

const roots = (columns: string) => `
  select ${columns} from runs r
  where r.tenant_id = $1 and r.session_id = $2 and r.parent_run_id is null and r.start_time > $3 and r.start_time <= $4
    and ${OF_REVISION}`;

const latencies = (percentile: number) => `
  select percentile_cont(${percentile}) within group (order by latency) as value, count(latency)::int as runs
  from (${roots(`${latencyOf('r.')} as latency`)}) as r`;

const COSTS = `
  select coalesce(sum(used.total_cost), 0)::float8 as value, count(*)::int as runs
  from (${roots('r.*')}) as r left join ${runUsage('$1')} on true`;

const STATEMENTS: Readonly<Record<Monitor['measure'], string>> = {
  score: SCORES,
  cost: COSTS,
  error_rate: roots(`avg((r.status = 'error')::int)::float8 as value, count(*)::int as runs`),
  latency_p50: latencies(0.5),
  latency_p99: latencies(0.99),
};

/** Returns what is measured in the window that ends now (ms since 1970). Its statements have a time limit. */
export function measure(pool: Pool, subject: Subject, now: number): Promise<Measured> {
  return transaction(pool, async (tx) => {
    await tx.query(`set local statement_timeout = ${STATEMENT_MS}`);
    const isLong = subject.window_minutes * MINUTE_MS > MOST_BY_RUN_MS;
    const isCounted = isLong && subject.measure !== 'score' && subject.revision_id === null;
    return isCounted ? fromCounts(tx, subject, now) : fromRuns(tx, subject, now);
  });
}

async function fromRuns(tx: PoolClient, subject: Subject, now: number): Promise<Measured> {
  const { tenant_id, project_id, revision_id, feedback_key, window_minutes } = subject;
  const [from, to] = [now - window_minutes * MINUTE_MS, now].map((time) => new Date(time).toISOString());
  const ofScores = subject.measure === 'score' ? [storable(feedback_key ?? '')] : [];
  const { rows } = await tx.query<Measured>(STATEMENTS[subject.measure], [
    ...[tenant_id, project_id, from, to, revision_id && storable(revision_id)],
    ...ofScores,
  ]);
  return rows[0]!;
}

/** As the statistics of projects: hours that begin or end in the window count whole, and latencies are within 5 %. */
async function fromCounts(tx: PoolClient, subject: Subject, now: number): Promise<Measured> {
  const from = Math.floor((now - subject.window_minutes * MINUTE_MS) / HOUR_MS) * HOUR_MS;
  const range = { from, to: Math.ceil(now / HOUR_MS) * HOUR_MS };
  const counts = (await countsOfSessions(tx, subject.tenant_id, [subject.project_id], range)).get(subject.project_id);
  if (!counts) return { value: null, runs: 0 };
  const { runs, errors, total_cost, latency_p50, latency_p99 } = counts;
  const values = { cost: Number(total_cost), error_rate: errors / runs, latency_p50, latency_p99, score: null };
  return { value: runs === 0 ? null : values[subject.measure], runs };
}
