import { isoTime, latencyOf, runUsage } from '@fairlead/runs';
import type { Pool } from 'pg';
import type { Means } from './revision-statistics';

/** Live runs of a revision that are read. */
const MOST_RUNS = 1000;

interface LiveRuns {
  readonly runs: number;
  readonly errors: number;
  readonly latency_p50: number | null;
  readonly total_tokens: number | null;
  readonly total_cost: number | null;
  readonly first_start: string | null;
  readonly last_start: string | null;
  readonly project_id: string | null;
  readonly more: boolean;
  readonly scores: Means;
}

/** One run more than is counted tells that there are more. Runs of a session that is being deleted do not count. */
const ROOTS = `
  select r.id, r.tenant_id, r.session_id, r.parent_run_id, r.start_time, r.status, ${latencyOf('r.')} as latency,
    r.prompt_tokens, r.completion_tokens, r.total_tokens, r.prompt_cost, r.completion_cost, r.total_cost,
    row_number() over (order by r.start_time desc, r.id desc) as place
  from runs r
  where r.tenant_id = $1 and revision_of(r.extra) = $2 and revision_of(r.extra) is not null
    and r.parent_run_id is null and r.example_id is null
    and exists (select from sessions s where s.tenant_id = $1 and s.id = r.session_id and s.reference_dataset_id is null)
  order by r.start_time desc, r.id desc limit ${MOST_RUNS + 1}`;

/**
 * Statistics of the newest live runs of a revision: root runs, whose usage is what they or the runs below them say. The
 * revision is written as the programs have it in their environment.
 */
export async function liveRunsOf(pool: Pool, tenantId: string, revision: string): Promise<LiveRuns> {
  const { rows } = await pool.query<Omit<LiveRuns, 'scores'> & { scores: [string, number, number][] | null }>(
    `with found as materialized (${ROOTS}), r as materialized (select * from found where place <= ${MOST_RUNS})
     select count(*)::int as runs, (count(*) filter (where r.status = 'error'))::int as errors,
       percentile_cont(0.5) within group (order by r.latency) as latency_p50,
       sum(used.total_tokens)::float8 as total_tokens, sum(used.total_cost)::float8 as total_cost,
       ${isoTime('min(r.start_time)')} as first_start, ${isoTime('max(r.start_time)')} as last_start,
       (select session_id from r order by place limit 1) as project_id,
       (select count(*) > ${MOST_RUNS} from found) as more,
       (select json_agg(json_build_array(key, mean, n)) from (
          select f.key, avg(f.score::numeric)::float8 as mean,
            count(*)::int as n
          from r join feedback f on f.run_id = r.id and f.tenant_id = $1
          where f.score between -1.7e308 and 1.7e308 and f.comparative_experiment_id is null group by f.key) as scored) as scores
     from r left join ${runUsage('$1')} on true`,
    [tenantId, revision],
  );
  const { scores, ...row } = rows[0]!;
  return { ...row, scores: new Map((scores ?? []).map(([key, mean, n]) => [key, { mean, n }])) };
}
