import { MAX_APPEND_BYTES } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import { USAGE_MEMBERS, USAGE_SUMS } from '../common/run-usage';
import { sessionFeedbackStatistics } from '../feedback/feedback-statistics.queries';
import type { RunStatistics } from '../session/experiment';
import type { UploadFacts } from './run-writer.store';

/** Within an event they are JSON in JSON, which can double their size. */
const MOST_STATISTICS_BYTES = MAX_APPEND_BYTES / 3;

export async function computeStatistics(
  client: PoolClient,
  { tenant, experiment, dataset }: UploadFacts,
): Promise<RunStatistics> {
  const { rows } = await client.query<Omit<RunStatistics, 'feedback_stats' | 'session_feedback_stats'>>(
    `select count(*)::int as run_count,
       percentile_cont(0.5) within group (order by extract(epoch from end_time - start_time)::float8) as latency_p50,
       percentile_cont(0.99) within group (order by extract(epoch from end_time - start_time)::float8) as latency_p99,
       avg((status = 'error')::int)::float8 as error_rate,
       to_char(max(start_time) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') as last_run_start_time,
       (select count(*)::int from examples where dataset_id = $2 and tenant_id = $3 and valid_to is null)
         as example_count, ${USAGE_SUMS}
     from runs u where session_id = $1 and tenant_id = $3`,
    [experiment, dataset, tenant],
  );
  const feedback = await sessionFeedbackStatistics(client, tenant, experiment);
  const fits = Buffer.byteLength(feedback.runs) + Buffer.byteLength(feedback.session) < MOST_STATISTICS_BYTES;
  return { ...rows[0]!, ...(fits && { feedback_stats: feedback.runs, session_feedback_stats: feedback.session }) };
}

/** Stores the usage of an upload as its runs have it. */
export async function refreshUsage(tx: PoolClient, tenant: string, session: string): Promise<void> {
  await tx.query(
    `update sessions s set (${USAGE_MEMBERS.join(', ')}) =
       (select ${USAGE_SUMS} from runs u where u.session_id = $1 and u.tenant_id = $2)
     where s.id = $1 and s.tenant_id = $2 and s.persisted`,
    [session, tenant],
  );
}
