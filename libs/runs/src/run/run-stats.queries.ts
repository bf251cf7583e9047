import type { Pool } from 'pg';
import { selectedFeedbackStatistics } from '../feedback/feedback-statistics.queries';
import { number, object, pick, raw, text } from '../common/platform-json';
import { counted, USAGE_MEMBERS, USAGE_SUMS } from '../common/run-usage';
import { runConditions, type RunFilter } from './runs.queries';
import { all, isoTime, latencyOf, ofSession, Parameters } from '../common/sql';

interface StatsRow {
  readonly run_count: number;
  readonly latency_p50: number | null;
  readonly latency_p99: number | null;
  readonly latency_avg: number | null;
  readonly error_rate: number | null;
  readonly last_run: string | null;
}

export const UNKNOWN_STATS = [
  ...['first_token_p50', 'first_token_p99', 'median_tokens'],
  ...['completion_tokens_p50', 'prompt_tokens_p50', 'tokens_p99', 'completion_tokens_p99', 'prompt_tokens_p99'],
  ...['run_facets', 'streaming_rate', 'cost_p50', 'cost_p99'],
  ...['prompt_token_details', 'completion_token_details', 'prompt_cost_details', 'completion_cost_details'],
];

const GROUPS = ['all_run_stats', 'all_token_stats', 'thread_feedback_stats', 'session_feedback_stats'] as const;
export const STATS_SELECT = [
  ...['run_count', 'latency_p50', 'latency_p99', 'latency_avg', 'last_run_start_time', 'feedback_stats', 'error_rate'],
  ...USAGE_MEMBERS,
  ...UNKNOWN_STATS,
  ...GROUPS,
];

/**
 * The text of a RunStats over the tenant's runs that match; latencies in seconds, of runs that have ended.
 * @throws FilterError
 */
export async function runStatistics(
  pool: Pool,
  tenantId: string,
  filter: RunFilter,
  select: readonly string[] | undefined,
): Promise<string> {
  const parameters = new Parameters();
  const tenant = parameters.add(tenantId, 'uuid');
  const conditions = [`r.tenant_id = ${tenant}`, ofSession('r', tenant), ...runConditions(filter, parameters, tenant)];
  if (filter.session?.length) conditions.push(`r.session_id = any(${parameters.add(filter.session, 'uuid[]')})`);
  const matching = `from runs r where ${all(conditions)}`;
  const latency = latencyOf('r.');
  const { rows } = await pool.query<StatsRow>(
    `select count(*)::int as run_count, percentile_cont(0.5) within group (order by ${latency}) as latency_p50,
       percentile_cont(0.99) within group (order by ${latency}) as latency_p99, avg(${latency}) as latency_avg,
       avg((r.status = 'error')::int)::float8 as error_rate, ${isoTime('max(r.start_time)')} as last_run ${matching}`,
    parameters.values,
  );
  // The runs that match, and the traces below those that are roots.
  const within = (run: string) =>
    `${run}.id in (select id from matching) or ${run}.trace_id in (select id from matching where parent_run_id is null)`;
  const usage = await pool.query<Readonly<Record<string, string | null>>>(
    `with matching as materialized (select r.id, r.parent_run_id ${matching}), used (${USAGE_MEMBERS.join(', ')}) as (
       select ${USAGE_SUMS} from runs u
       where u.tenant_id = ${tenant} and ${counted(tenant, `(${within('p')})`)}
         and (${within('u')}))
     select * from used`,
    parameters.values,
  );
  const row = rows[0]!;
  const members = {
    run_count: number(row.run_count),
    latency_p50: number(row.latency_p50),
    latency_p99: number(row.latency_p99),
    latency_avg: number(row.latency_avg),
    last_run_start_time: text(row.last_run),
    feedback_stats: raw(
      await selectedFeedbackStatistics(pool, `select r.id, r.tenant_id ${matching}`, parameters.values),
    ),
    error_rate: number(row.error_rate),
    ...Object.fromEntries(USAGE_MEMBERS.map((member) => [member, raw(usage.rows[0]![member])])),
    ...Object.fromEntries(UNKNOWN_STATS.map((member) => [member, 'null'])),
  };
  const shown = new Set(select);
  return object(shown.size === 0 || GROUPS.some((group) => shown.has(group)) ? members : pick(members, shown));
}
