import type { Pool } from 'pg';
import { type FeedbackEntity, isoTime, latencyOf, preview, type RunEntity, unquoted } from '@fairlead/runs';
import { findJudgeSessions, judgeOf, metadataOf } from '../cells/judges.queries';
import type { RowRuns } from './row-runs.schema';

/** Bounds of an answer: runs of a row in each experiment, feedback on all of them, and bytes of a text. */
const MOST = { runs: 100, feedback: 1000, output: 1024, comment: 4096 };

type Given = RowRuns['experiments'][number]['runs'][number]['feedback'][number];

interface Read {
  readonly tenantId: string;
  readonly example: string;
  readonly sessions: readonly string[];
}

interface RunRow extends Pick<RunEntity, 'id' | 'session_id' | 'status' | 'error' | 'outputs'> {
  readonly start: string;
  readonly latency: number | null;
  readonly count: number;
}

interface FeedbackRow extends Pick<
  FeedbackEntity,
  'id' | 'key' | 'score' | 'value' | 'comment' | 'correction' | 'source_type' | 'source_metadata'
> {
  readonly run_id: string;
  readonly created: string;
}

/** The runs of a row in each experiment, with the feedback on them. */
export async function readRowRuns(pool: Pool, asked: Read): Promise<RowRuns> {
  const { example, sessions } = asked;
  const runs = await findRuns(pool, asked);
  const found = await findFeedback(pool, asked, runs);
  const feedback = found.slice(0, MOST.feedback);
  const judges = await findJudgeSessions(pool, asked.tenantId, feedback);
  return {
    example_id: example,
    experiments: sessions.map((experiment) => {
      const own = runs.filter(({ session_id }) => session_id === experiment);
      return {
        experiment,
        run_count: own[0]?.count ?? 0,
        runs: own.map((run) => ({
          run_id: run.id,
          status: run.status,
          start_time: run.start,
          latency_seconds: run.latency,
          error_preview: textOf(run.error, MOST.output),
          outputs_preview: preview(run.outputs, MOST.output),
          feedback: feedback.filter(({ run_id }) => run_id === run.id).map((given) => feedbackOf(given, judges)),
        })),
      };
    }),
    left_out: found.length > feedback.length,
  };
}

async function findRuns(pool: Pool, { tenantId, example, sessions }: Read): Promise<RunRow[]> {
  const cut = (column: string) => `left(${column}, ${MOST.output + 1})`;
  const { rows } = await pool.query<RunRow>(
    `select id, session_id, status, start, latency, error, outputs, count from (
       select r.id, r.session_id, r.status, ${isoTime('r.start_time')} as start, ${latencyOf('r.')} as latency,
         ${cut('r.error')} as error, ${cut('r.outputs')} as outputs,
         row_number() over (partition by r.session_id order by r.row_number, r.id) as place,
         (count(*) over (partition by r.session_id))::int as count
       from runs r
       where r.example_id = $1 and r.tenant_id = $2 and r.session_id = any($3::uuid[]) and r.parent_run_id is null
     ) as of_row
     where place <= ${MOST.runs} order by session_id, place`,
    [example, tenantId, sessions],
  );
  return rows;
}

/** The newest feedback on some runs: one more than is given, when there is more. */
async function findFeedback(pool: Pool, { tenantId, sessions }: Read, runs: readonly RunRow[]): Promise<FeedbackRow[]> {
  const cut = (column: string) => `left(${column}, ${MOST.comment + 1}) as ${column}`;
  const { rows } = await pool.query<FeedbackRow>(
    `select id, run_id, key, score, ${cut('value')}, ${cut('comment')}, ${cut('correction')}, source_type,
       case when octet_length(source_metadata) <= ${MOST.comment} then source_metadata end as source_metadata,
       ${isoTime('created_at')} as created
     from feedback
     where run_id = any($1::uuid[]) and tenant_id = $2 and session_id = any($3::uuid[])
       and comparative_experiment_id is null
     order by created_at desc, id desc limit ${MOST.feedback + 1}`,
    [runs.map(({ id }) => id), tenantId, sessions],
  );
  return rows;
}

function feedbackOf(given: FeedbackRow, sessions: ReadonlyMap<string, string>): Given {
  const { id, key, score, value, comment, correction, source_type, source_metadata, created } = given;
  const metadata = metadataOf(source_metadata);
  return {
    ...{ id, key, score },
    value_preview: textOf(value, MOST.output),
    comment_preview: textOf(comment, MOST.comment),
    correction_preview: textOf(correction, MOST.comment),
    judge: { ...judgeOf(source_type, metadata, sessions), metadata },
    created_at: created,
  };
}

/** Text of stored JSON: a string without its quotation marks, anything else as it was sent, null for `null`. */
function textOf(json: string | null, bytes: number): string | null {
  return json === null || json === 'null' ? null : preview(unquoted(json), bytes);
}
