import type { Pool } from 'pg';
import { array, isoTime, latencyOf, metadataOf, number, object, raw, runInputs, text } from '@fairlead/runs';
import type { Hideable } from './share';
import type { OpenLink } from './share.queries';

const MOST_FEEDBACK = 100;

interface RunRow {
  readonly id: string;
  readonly session_id: string;
  readonly example_id: string | null;
  readonly name: string;
  readonly run_type: string;
  readonly status: string;
  readonly start: string;
  readonly end: string | null;
  readonly latency: number | null;
  readonly error: string | null;
  readonly inputs: string | null;
  readonly outputs: string | null;
  readonly reference: string | null;
  readonly extra: string | null;
}

interface FeedbackRow {
  readonly key: string;
  readonly score: number | null;
  readonly value: string | null;
  readonly comment: string | null;
}

/**
 * A run as JSON text, without the members that the link hides, which are not even read; undefined when the link shows no
 * such run. Of a comparison these are the runs of its rows.
 */
export async function linkedRun(
  pool: Pool,
  { tenant, kind, experiments, hides }: OpenLink,
  id: string,
): Promise<string | undefined> {
  const unless = (member: Hideable, sql: string) => (hides.has(member) ? 'null' : sql);
  const { rows } = await pool.query<RunRow>(
    `select r.id, r.session_id, r.example_id, r.name, r.run_type, r.status, ${isoTime('r.start_time')} as start,
       ${isoTime('r.end_time')} as end, ${latencyOf('r.')} as latency, ${unless('errors', 'r.error')} as error,
       ${unless('inputs', runInputs('$2'))} as inputs, ${unless('outputs', 'r.outputs')} as outputs,
       ${unless('metadata', 'r.extra')} as extra,
       ${unless(
         'reference_outputs',
         `(select e.outputs from examples e
           where e.tenant_id = $2 and e.dataset_id = r.dataset_id and e.id = r.example_id
             and e.valid_to is null)`,
       )} as reference
     from runs r
     where r.id = $1 and r.tenant_id = $2 and r.session_id = any($3::uuid[])
       and ($4 or (r.parent_run_id is null and r.example_id is not null))`,
    [id, tenant, experiments, kind === 'run'],
  );
  const [run] = rows;
  if (!run) return undefined;
  const shown = (member: Hideable, name: string, json: () => string) => (hides.has(member) ? {} : { [name]: json() });
  const feedback = hides.has('feedback') ? [] : await feedbackOn(pool, tenant, id, hides);
  return object({
    id: text(run.id),
    session_id: text(run.session_id),
    reference_example_id: text(run.example_id),
    name: text(run.name),
    run_type: text(run.run_type),
    status: text(run.status),
    start_time: text(run.start),
    end_time: text(run.end),
    latency_seconds: number(run.latency),
    ...shown('errors', 'error', () => raw(run.error)),
    ...shown('inputs', 'inputs', () => run.inputs ?? '{}'),
    ...shown('outputs', 'outputs', () => raw(run.outputs)),
    ...shown('reference_outputs', 'reference_outputs', () => raw(run.reference)),
    ...shown('metadata', 'metadata', () => metadataOf(run.extra)),
    ...shown('feedback', 'feedback', () => array(feedback)),
  });
}

async function feedbackOn(pool: Pool, tenant: string, run: string, hides: ReadonlySet<Hideable>): Promise<string[]> {
  const comment = hides.has('comments') ? 'null' : 'comment';
  const { rows } = await pool.query<FeedbackRow>(
    `select key, score, value, ${comment} as comment from feedback
     where run_id = $1 and tenant_id = $2 order by created_at, id limit $3`,
    [run, tenant, MOST_FEEDBACK],
  );
  return rows.map(({ key, score, value, comment: said }) =>
    object({
      key: text(key),
      score: number(score),
      value: raw(value),
      ...(!hides.has('comments') && { comment: raw(said) }),
    }),
  );
}
