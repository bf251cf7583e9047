import type { Pool } from 'pg';
import { ofSession } from '../common/sql';

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
    `select r.id, r.session_id, r.replaced_by from replaced_runs r
     where r.tenant_id = $1 and r.id = any($2::uuid[]) and ${ofSession('r', '$1')}`,
    [tenantId, ids],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

export function replacedSentence(id: string, { replaced_by }: Replacement): string {
  return `Run ID ${id} was replaced by run ${replaced_by} when its row was filled: give the feedback on that run.`;
}
