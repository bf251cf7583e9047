import type { Pool } from 'pg';

/** The feedback keys of a tenant of which lower scores are better, the first 10,000. */
export async function lowerIsBetter(pool: Pool, tenantId: string): Promise<Set<string>> {
  const { rows } = await pool.query<{ key: string }>(
    `select key from feedback_configs
     where tenant_id = $1 and coalesce(is_lower_score_better, searchable_json(config) ->> 'is_lower_score_better' = 'true')
     order by key limit 10000`,
    [tenantId],
  );
  return new Set(rows.map(({ key }) => key));
}
