import type { Pool } from 'pg';

/** The run that took the place of another one, and when that was recorded. */
interface Replacement {
  readonly session_id: string;
  readonly replaced_by: string;
}

/** The tenant's replaced runs of these ids and what replaced them. */
export async function findReplacements(
  pool: Pool,
  tenantId: string,
  ids: readonly string[],
): Promise<Map<string, Replacement>> {
  const { rows } = await pool.query<Replacement & { id: string }>(
    'select id, session_id, replaced_by from replaced_runs where tenant_id = $1 and id = any($2::uuid[])',
    [tenantId, ids],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** The sentence for feedback on a replaced run. */
export function replacedSentence(id: string, { replaced_by }: Replacement): string {
  return `Run ID ${id} was replaced by run ${replaced_by} when its row was filled: give the feedback on that run.`;
}
