import type { Pool } from 'pg';

/** The dataset that a session is an experiment on, null for a tracing project; undefined when the tenant has no such session. */
export async function findReferenceDataset(
  pool: Pool,
  tenantId: string,
  id: string,
): Promise<string | null | undefined> {
  const { rows } = await pool.query<{ dataset: string | null }>(
    'select reference_dataset_id as dataset from sessions where id = $1 and tenant_id = $2',
    [id, tenantId],
  );
  return rows[0]?.dataset;
}
