import type { Pool } from 'pg';

interface Replacement {
  readonly session_id: string;
  readonly replaced_by: string;
}

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

export function replacedSentence(id: string, { replaced_by }: Replacement): string {
  return `Run ID ${id} was replaced by run ${replaced_by} when its row was filled: give the feedback on that run.`;
}
