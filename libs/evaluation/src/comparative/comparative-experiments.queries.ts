import type { Pool } from 'pg';
import {
  all,
  array,
  comparativeFeedbackStatistics,
  containing,
  isoTime,
  object,
  Parameters,
  raw,
  text,
} from '@fairlead/runs';
import type { ComparativeExperimentEntity } from './comparative-experiment.entity';

interface ComparativeQuery {
  readonly id?: readonly string[];
  readonly name?: string;
  readonly name_contains?: string;
  readonly sort_by: 'name' | 'created_at';
  readonly sort_by_desc: boolean;
  readonly offset: number;
  readonly limit: number;
}

interface ComparativeRow extends Omit<ComparativeExperimentEntity, 'experiment_ids' | 'created_at' | 'modified_at'> {
  readonly created_at: string;
  readonly modified_at: string;
}

interface ListedRow extends ComparativeRow {
  readonly experiments: readonly { readonly id: string; readonly name: string }[];
}

export async function listComparativeExperiments(
  pool: Pool,
  tenantId: string,
  datasetId: string,
  query: ComparativeQuery,
): Promise<string[]> {
  const parameters = new Parameters();
  const tenant = parameters.add(tenantId, 'uuid');
  const conditions = [`c.tenant_id = ${tenant}`, `c.dataset_id = ${parameters.add(datasetId)}`];
  if (query.id?.length) conditions.push(`c.id = any(${parameters.add(query.id, 'uuid[]')})`);
  if (query.name) conditions.push(`c.name = ${parameters.add(query.name)}`);
  if (query.name_contains) conditions.push(`c.name ilike ${parameters.add(containing(query.name_contains))}`);
  const { rows } = await pool.query<ListedRow>(
    `select c.id, c.tenant_id, c.dataset_id, c.name, c.description, c.extra, ${isoTime('c.created_at')} as created_at,
       ${isoTime('c.modified_at')} as modified_at,
       coalesce((select json_agg(json_build_object('id', s.id, 'name', s.name) order by array_position(c.experiment_ids, s.id))
         from sessions s where s.tenant_id = ${tenant} and s.id = any(c.experiment_ids)), '[]') as experiments
     from comparative_experiments c where ${all(conditions)}
     order by c.${query.sort_by} ${query.sort_by_desc ? 'desc' : 'asc'} nulls last, c.id
     limit ${parameters.add(query.limit)} offset ${parameters.add(query.offset)}`,
    parameters.values,
  );
  const statistics = await comparativeFeedbackStatistics(
    pool,
    tenantId,
    rows.map(({ id }) => id),
  );
  return rows.map((row) =>
    object({
      ...comparativeMembers(row),
      experiments_info: array(row.experiments.map(({ id, name }) => object({ id: text(id), name: text(name) }))),
      feedback_stats: raw(statistics.get(row.id)),
    }),
  );
}

export function comparativeMembers(row: ComparativeRow): Record<string, string> {
  return {
    id: text(row.id),
    name: text(row.name),
    description: text(row.description),
    tenant_id: text(row.tenant_id),
    created_at: text(row.created_at),
    modified_at: text(row.modified_at),
    reference_dataset_id: text(row.dataset_id),
    extra: raw(row.extra),
  };
}
