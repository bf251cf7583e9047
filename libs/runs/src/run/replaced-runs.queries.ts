import type { Pool } from 'pg';
import { feedbackColumns, feedbackJson, type FeedbackRow } from '../feedback/feedback.queries';
import { exampleId } from '../common/ids';
import { array, object, text } from '../common/platform-json';
import { USAGE_MEMBERS, usageOf } from '../common/run-usage';
import { isoTime } from '../common/sql';
import { answer, batches, type Sized } from '../persist/pieces';
import { runMembers, type RunRow } from './run-json';
import { runInputs } from './runs-vocabulary';

interface ReplacedRow extends RunRow {
  readonly replaced_by: string;
  readonly replaced: string;
}

export async function findReplacedRun(
  pool: Pool,
  tenantId: string,
  id: string,
  sessionId?: string,
): Promise<string | undefined> {
  const [run] = await readReplaced(pool, tenantId, [id]);
  return run && (sessionId === undefined || run.session_id === sessionId) ? object(members(run)) : undefined;
}

/**
 * A page of the replaced runs of an experiment, the latest first, with the feedback on them: JSON text, or pieces of it
 * when it is long. `row` is the `row_id` of one row, or the id of its example.
 */
export async function listReplacedRuns(
  pool: Pool,
  tenantId: string,
  session: { readonly id: string; readonly dataset: string | null },
  { row, limit, offset }: { readonly row?: string; readonly limit: number; readonly offset: number },
): Promise<string | AsyncGenerator<string>> {
  const examples = row === undefined ? null : [row, ...(session.dataset ? [exampleId(session.dataset, row)] : [])];
  const { rows } = await pool.query<Sized>(
    `select r.id, coalesce(octet_length(r.inputs), 0) + coalesce(octet_length(r.outputs), 0)
       + coalesce(octet_length(r.extra), 0) + coalesce(octet_length(r.error), 0) as size
     from replaced_runs r
     where r.session_id = $1 and r.tenant_id = $2 and ($3::uuid[] is null or r.example_id = any($3))
     order by r.replaced_at desc, r.row_number, r.id limit $4 offset $5`,
    [session.id, tenantId, examples, limit, offset],
  );
  const render = async (group: readonly Sized[]) => {
    const ids = group.map(({ id }) => id);
    const [runs, feedback] = await Promise.all([readReplaced(pool, tenantId, ids), feedbackOf(pool, tenantId, ids)]);
    return runs.map((run) => object({ ...members(run), feedback: array(feedback.get(run.id) ?? []) }));
  };
  return answer('{"resources":[', batches(rows), render, `],"offset":${offset + rows.length}}`);
}

async function readReplaced(pool: Pool, tenantId: string, ids: readonly string[]): Promise<ReplacedRow[]> {
  const { rows } = await pool.query<ReplacedRow>(
    `select r.id, r.tenant_id, r.session_id, r.dataset_id, r.example_id, r.name, r.run_type,
       ${isoTime('r.start_time')} as start, ${isoTime('r.end_time')} as "end", r.status, r.error,
       ${runInputs('$2')} as inputs, r.outputs, r.extra, null as parent_run_id, null as trace_id, null as dotted_order,
       null as tags, null as events, null as serialized, r.replaced_by, ${isoTime('r.replaced_at')} as replaced
     from unnest($1::uuid[]) with ordinality as k(id, place)
     join replaced_runs r on r.id = k.id and r.tenant_id = $2 order by k.place`,
    [ids, tenantId],
  );
  return rows;
}

async function feedbackOf(pool: Pool, tenantId: string, ids: readonly string[]): Promise<Map<string, string[]>> {
  const { rows } = await pool.query<FeedbackRow>(
    `select ${feedbackColumns('$1')} from replaced_feedback f
     where f.tenant_id = $1 and f.run_id = any($2::uuid[]) order by f.created_at, f.id`,
    [tenantId, ids],
  );
  const found = new Map<string, string[]>();
  for (const row of rows) found.set(row.run_id!, [...(found.get(row.run_id!) ?? []), feedbackJson(row)]);
  return found;
}

function members(run: ReplacedRow): Record<string, string> {
  const usage = usageOf(run);
  const used = Object.fromEntries(USAGE_MEMBERS.map((name) => [name, JSON.stringify(usage[name])]));
  return {
    ...runMembers(run, undefined),
    ...used,
    replaced_by: text(run.replaced_by),
    replaced_at: text(run.replaced),
  };
}
