import type { Pool } from 'pg';
import { preview, storable, unquoted } from '@fairlead/runs';

/** Beginnings of comments by feedback key. */
export type Comments = Readonly<Record<string, string>>;

const COMMENT_BYTES = 240;

/** The newest comments on some runs by their ids, with one of these keys. */
export async function findComments(
  pool: Pool,
  tenantId: string,
  runs: readonly { readonly id: string; readonly session_id: string }[],
  keys: readonly string[],
): Promise<ReadonlyMap<string, Comments>> {
  const { rows } = await pool.query<{ run_id: string; key: string; comment: string }>(
    `select distinct on (run_id, key) run_id, key, left(comment, ${COMMENT_BYTES + 1}) as comment
     from feedback
     where tenant_id = $4 and run_id = any($1::uuid[]) and session_id = any($2::uuid[]) and key = any($3::text[])
       and comparative_experiment_id is null and comment is not null and comment not in ('null', '""')
     order by run_id, key, created_at desc, id desc`,
    [runs.map(({ id }) => id), [...new Set(runs.map(({ session_id }) => session_id))], keys.map(storable), tenantId],
  );
  const byRun = new Map<string, [string, string][]>();
  for (const { run_id, key, comment } of rows) {
    const told = preview(unquoted(comment), COMMENT_BYTES)!;
    byRun.set(run_id, [...(byRun.get(run_id) ?? []), [key, told]]);
  }
  return new Map([...byRun].map(([run, comments]) => [run, Object.fromEntries(comments)]));
}
