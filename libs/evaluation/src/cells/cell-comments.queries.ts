import type { Pool } from 'pg';
import { preview, storable, unquoted } from '@fairlead/runs';
import { findJudgeSessions, type Judge, judgeOf, metadataOf } from './judges.queries';

/** The newest feedback on a run in short, by feedback key. */
export interface Told {
  /** Beginnings of the newest comments. */
  readonly comments: Readonly<Record<string, string>>;
  /** Givers of the newest feedback. */
  readonly judges: Readonly<Record<string, Judge>>;
}

interface ToldRow {
  readonly run_id: string;
  readonly key: string;
  readonly comment: string | null;
  readonly source_type: string;
  readonly source_metadata: string | null;
}

const COMMENT_BYTES = 240;
const METADATA_BYTES = 4096;
const NO_COMMENT = `comment is null or comment in ('null', '""')`;

/** The newest comments on some runs, and who gave the newest feedback, by their ids, of these keys. */
export async function findTold(
  pool: Pool,
  tenantId: string,
  runs: readonly { readonly id: string; readonly session_id: string }[],
  keys: readonly string[],
): Promise<ReadonlyMap<string, Told>> {
  const { rows } = await pool.query<ToldRow>(
    `select distinct on (run_id, key) run_id, key, source_type,
       case when octet_length(source_metadata) <= ${METADATA_BYTES} then source_metadata end as source_metadata,
       first_value(case when not (${NO_COMMENT}) then left(comment, ${COMMENT_BYTES + 1}) end) over (
         partition by run_id, key order by ${NO_COMMENT}, created_at desc, id desc) as comment
     from feedback
     where tenant_id = $4 and run_id = any($1::uuid[]) and session_id = any($2::uuid[]) and key = any($3::text[])
       and comparative_experiment_id is null
     order by run_id, key, created_at desc, id desc`,
    [runs.map(({ id }) => id), [...new Set(runs.map(({ session_id }) => session_id))], keys.map(storable), tenantId],
  );
  const sessions = await findJudgeSessions(pool, tenantId, rows);
  const byRun = new Map<string, ToldRow[]>();
  for (const row of rows) byRun.set(row.run_id, [...(byRun.get(row.run_id) ?? []), row]);
  return new Map([...byRun].map(([run, given]) => [run, toldOf(given, sessions)]));
}

function toldOf(given: readonly ToldRow[], sessions: ReadonlyMap<string, string>): Told {
  const comments = given.flatMap(({ key, comment }) =>
    comment === null ? [] : [[key, preview(unquoted(comment), COMMENT_BYTES)!] as const],
  );
  const judges = given.map(
    ({ key, source_type, source_metadata: source }) =>
      [key, judgeOf(source_type, metadataOf(source), sessions)] as const,
  );
  return { comments: Object.fromEntries(comments), judges: Object.fromEntries(judges) };
}
