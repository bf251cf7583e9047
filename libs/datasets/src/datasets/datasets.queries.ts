import type { Pool } from 'pg';
import {
  all,
  array,
  containing,
  type DatasetHoldings,
  isoTime,
  number,
  object,
  Parameters,
  raw,
  shownMetadataOf,
  text,
} from '@fairlead/runs';
import type { Dataset, ScoreDirections } from './dataset';
import type { DatasetEntity } from './dataset.entity';
import { DatasetNotFound } from './dataset.errors';
import type { DatasetsQuery } from './datasets-body';

interface DatasetRow extends Omit<
  DatasetEntity,
  'created_at' | 'modified_at' | 'last_session_start_time' | 'score_directions' | 'version'
> {
  readonly created: string;
  readonly modified: string;
  readonly last_session: string | null;
}

/** SQL about a dataset `d` of the workspace `$1`. */
const COLUMNS = `d.id, d.tenant_id, d.name, d.description, ${isoTime('d.created_at')} as created, ${isoTime('d.modified_at')} as modified,
  d.externally_managed, d.data_type, d.example_count, d.session_count, ${isoTime('d.last_session_start_time')} as last_session, d.metadata,
  d.inputs_schema, d.outputs_schema,
  (select s.id from sessions s where s.tenant_id = $1 and s.id = d.baseline_experiment_id) as baseline_experiment_id`;

export async function listDatasets(pool: Pool, tenantId: string, query: DatasetsQuery): Promise<string[]> {
  const parameters = new Parameters();
  const where = all(datasetConditions(tenantId, query, parameters));
  const { rows } = await pool.query<DatasetRow>(
    `select ${COLUMNS} from datasets d where ${where}
     order by d.${query.sort_by} ${query.sort_by_desc ? 'desc' : 'asc'} nulls last, d.id
     limit ${parameters.add(query.limit)} offset ${parameters.add(query.offset)}`,
    parameters.values,
  );
  const counted = !query.exclude?.includes('example_count');
  return rows.map((row) => datasetJson(row, counted));
}

export async function countDatasets(pool: Pool, tenantId: string, query: DatasetsQuery): Promise<number> {
  const parameters = new Parameters();
  const where = all(datasetConditions(tenantId, query, parameters));
  const { rows } = await pool.query<{ total: number }>(
    `select count(*)::int as total from datasets d where ${where}`,
    parameters.values,
  );
  return rows[0]!.total;
}

function datasetConditions(tenantId: string, query: DatasetsQuery, parameters: Parameters): string[] {
  const conditions = [`d.tenant_id = ${parameters.add(tenantId)}`];
  if (query.id?.length) conditions.push(`d.id = any(${parameters.add(query.id, 'uuid[]')})`);
  if (query.data_type?.length) conditions.push(`d.data_type = any(${parameters.add(query.data_type, 'text[]')})`);
  if (query.name) conditions.push(`d.name = ${parameters.add(query.name)}`);
  if (query.name_contains) conditions.push(`d.name ilike ${parameters.add(containing(query.name_contains))}`);
  if (query.metadata) {
    conditions.push(`searchable_json(d.metadata) @> searchable_json(${parameters.add(query.metadata, 'text')})`);
  }
  // Nothing carries tags here, so no dataset has one of those asked for.
  if (query.tag_value_id?.length) conditions.push('false');
  return conditions;
}

export async function findDataset(pool: Pool, tenantId: string, id: string): Promise<string | undefined> {
  const { rows } = await pool.query<DatasetRow>(
    `select ${COLUMNS} from datasets d where d.tenant_id = $1 and d.id = $2`,
    [tenantId, id],
  );
  return rows[0] && datasetJson(rows[0], true);
}

export async function findHoldings(pool: Pool, tenantId: string, id: string): Promise<DatasetHoldings | undefined> {
  const { rows } = await pool.query<DatasetHoldings>(
    `select example_count, session_count, ${isoTime('last_session_start_time')} as last_session_start_time
     from datasets where tenant_id = $1 and id = $2`,
    [tenantId, id],
  );
  return rows[0];
}

/** @throws DatasetNotFound unless the tenant has the dataset */
export async function requireDataset(pool: Pool, tenantId: string, id: string): Promise<void> {
  const { rowCount } = await pool.query('select 1 from datasets where id = $1 and tenant_id = $2', [id, tenantId]);
  if (rowCount !== 1) throw new DatasetNotFound(id);
}

export async function findScoreDirections(pool: Pool, tenantId: string, id: string): Promise<ScoreDirections> {
  const { rows } = await pool.query<{ directions: string | null }>(
    'select score_directions as directions from datasets where tenant_id = $1 and id = $2',
    [tenantId, id],
  );
  const said = rows[0]?.directions;
  return said ? (JSON.parse(said) as ScoreDirections) : { lower_is_better: [], higher_is_better: [] };
}

export async function sessionsOfDataset(pool: Pool, tenantId: string, id: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    'select id from sessions where reference_dataset_id = $1 and tenant_id = $2 order by id',
    [id, tenantId],
  );
  return rows.map((row) => row.id);
}

export async function listSplits(pool: Pool, tenantId: string, id: string, asOf?: string): Promise<string> {
  const { rows } = await pool.query<{ split: string }>(
    `select distinct split from (
       select ${shownMetadataOf('metadata')} -> 'dataset_split' as value from examples
       where tenant_id = $3 and dataset_id = $1
         and case when $2::timestamptz is null then valid_to is null
                  else valid_from <= $2::timestamptz and (valid_to is null or valid_to > $2::timestamptz) end) as found
     cross join lateral (
       select jsonb_array_elements_text(case jsonb_typeof(value) when 'array' then value when 'string' then jsonb_build_array(value) end)
     ) as splits(split)
     where split is not null order by split`,
    [id, asOf ?? null, tenantId],
  );
  return array(rows.map(({ split }) => text(split)));
}

/** A dataset that was made just now, as JSON. */
export function createdJson(id: string, tenantId: string, state: Dataset, examples: number): string {
  const { name, description, dataType, createdAt, modifiedAt, definitions } = state;
  return datasetJson(
    {
      ...{ id, tenant_id: tenantId, name, description, created: createdAt, modified: modifiedAt },
      ...{ externally_managed: false, data_type: dataType, example_count: examples, session_count: 0 },
      ...definitions,
      last_session: null,
      baseline_experiment_id: null,
    },
    true,
  );
}

function datasetJson(row: DatasetRow, counted: boolean): string {
  return object({
    name: text(row.name),
    description: text(row.description),
    created_at: text(row.created),
    inputs_schema_definition: raw(row.inputs_schema),
    outputs_schema_definition: raw(row.outputs_schema),
    externally_managed: String(row.externally_managed),
    transformations: 'null',
    data_type: text(row.data_type),
    id: text(row.id),
    tenant_id: text(row.tenant_id),
    example_count: counted ? number(row.example_count) : 'null',
    session_count: number(row.session_count),
    modified_at: text(row.modified),
    last_session_start_time: text(row.last_session),
    metadata: raw(row.metadata),
    baseline_experiment_id: text(row.baseline_experiment_id),
  });
}
