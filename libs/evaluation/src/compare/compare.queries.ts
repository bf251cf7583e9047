import type { Pool } from 'pg';
import { IdTable, jsonContaining, Parameters, storable } from '@fairlead/runs';
import type { LabelValues, ScoreTable } from './score-table';
import { type Slice, storedMember, valuesOfExample } from './slice';

interface Rows {
  readonly tenantId: string;
  readonly table: ScoreTable;
}

/**
 * By row of the table, 1 for each whose example or one of whose runs holds a text: in its inputs, expected outputs, outputs
 * or error, in upper or lower case.
 */
export async function rowsWith(
  pool: Pool,
  datasetId: string,
  { tenantId, table }: Rows,
  text: string,
): Promise<Uint8Array> {
  const parameters = new Parameters();
  const tenant = parameters.add(tenantId, 'uuid');
  const sessions = parameters.add(
    table.experiments.map(({ id }) => id),
    'uuid[]',
  );
  const dataset = parameters.add(datasetId, 'uuid');
  const contains = jsonContaining(text, parameters);
  const { rows } = await pool.query<{ ids: Buffer | null }>(
    `select string_agg(uuid_send(id), ''::bytea) as ids from (
       select example_id as id from runs
       where tenant_id = ${tenant} and session_id = any(${sessions}) and parent_run_id is null and example_id is not null
         and (${['outputs', 'inputs', 'error'].map(contains).join(' or ')})
       union
       select id from examples
       where tenant_id = ${tenant} and dataset_id = ${dataset} and valid_to is null and (${contains('inputs')} or ${contains('outputs')})
       union
       -- The row of an example that was deleted shows the inputs of the version that was run.
       select e.id from runs r
         join examples e on e.tenant_id = ${tenant} and e.dataset_id = r.dataset_id and e.id = r.example_id and e.valid_from = r.example_from
       where r.tenant_id = ${tenant} and r.session_id = any(${sessions}) and r.parent_run_id is null and r.inputs is null
         and e.valid_to is not null and ${contains('e.inputs')}
         and not exists (
           select from examples n
           where n.tenant_id = ${tenant} and n.dataset_id = e.dataset_id and n.id = e.id and n.valid_to is null)
     ) as found`,
    parameters.values,
  );
  return marked(table, idsIn(rows[0]?.ids));
}

/** By row of the table, 1 for each whose example is in a slice. */
export async function rowsOfSlice(
  pool: Pool,
  datasetId: string,
  { tenantId, table }: Rows,
  { by, value }: Slice,
): Promise<Uint8Array> {
  const { rows } = await pool.query<{ ids: Buffer | null }>(
    `select string_agg(uuid_send(e.id), ''::bytea) as ids from examples e
     where e.tenant_id = $1 and e.dataset_id = $2 and e.valid_to is null
       and exists (select from ${valuesOfExample('null::integer')} where valued.member = $3 and valued.value = $4)`,
    [tenantId, datasetId, storable(storedMember(by)), storable(value)],
  );
  return marked(table, idsIn(rows[0]?.ids));
}

/**
 * By row of the table, the place of its example among those that were run: as they were made, those of one request in the
 * order of the request.
 */
export async function placesOfRows(pool: Pool, datasetId: string, { tenantId, table }: Rows): Promise<Uint32Array> {
  const { rows } = await pool.query<{ ids: Buffer | null }>(
    `select string_agg(uuid_send(id), ''::bytea order by created, sequence, id) as ids from (
       select id, min(created_at) as created, min(sequence) as sequence from examples
       where tenant_id = $3 and dataset_id = $2 and id in (
         select example_id from runs where tenant_id = $3 and session_id = any($1::uuid[]) and example_id is not null)
       group by id
     ) as made`,
    [table.experiments.map(({ id }) => id), datasetId, tenantId],
  );
  const ordered = idsIn(rows[0]?.ids);
  return Uint32Array.from({ length: table.rows }, (_, row) => {
    const place = ordered.find(table.ids, row * 16);
    // Last are rows whose example is not there: they stay as they are in the table.
    return place < 0 ? ordered.size + row : place;
  });
}

function marked({ rows, ids }: ScoreTable, found: IdTable): Uint8Array {
  return Uint8Array.from({ length: rows }, (_, row) => Number(found.find(ids, row * 16) >= 0));
}

export function idsIn(ids: Buffer | null = null): IdTable {
  const table = new IdTable();
  for (let offset = 0; offset < (ids?.length ?? 0); offset += 16) table.add(ids!, offset);
  return table;
}

/** Text that changes whenever an example of a dataset does. */
export async function datasetStamp(pool: Pool, tenantId: string, datasetId: string): Promise<string> {
  const { rows } = await pool.query<{ stamp: string }>(
    'select xmin::text as stamp from datasets where tenant_id = $1 and id = $2',
    [tenantId, datasetId],
  );
  return rows[0]?.stamp ?? '';
}

/** Bytes of a feedback configuration whose categories are read. */
export const MOST_CONFIG_BYTES = 256 * 1024;

/**
 * The numbers that the feedback configurations of a tenant give to labels, by key: `value` of the category with this
 * `label`. A label with several different values has none.
 */
export async function configuredLabels(
  pool: Pool,
  tenantId: string,
  keys: readonly string[],
): Promise<Map<string, LabelValues>> {
  if (keys.length === 0) return new Map();
  const { rows } = await pool.query<{ key: string; config: string }>(
    `select key, config from feedback_configs
     where tenant_id = $1 and key = any($2::text[]) and octet_length(config) <= ${MOST_CONFIG_BYTES}`,
    [tenantId, keys.map(storable)],
  );
  return new Map(rows.map(({ key, config }) => [key, labelsOf(JSON.parse(config))]));
}

export function labelsOf(config: unknown): LabelValues {
  const { categories } = (config ?? {}) as { categories?: unknown };
  const values = new Map<string, number>();
  const twice = new Set<string>();
  for (const one of Array.isArray(categories) ? (categories as unknown[]) : []) {
    const { label, value } = (one ?? {}) as { label?: unknown; value?: unknown };
    if (typeof label !== 'string' || typeof value !== 'number' || !Number.isFinite(value)) continue;
    if (values.has(label) && values.get(label) !== value) twice.add(label);
    values.set(label, value);
  }
  for (const label of twice) values.delete(label);
  return values;
}

/** `<session> <key>` of each value of a whole session that is an object, a list or a text that is too long to be counted. */
export async function structuredScores(
  pool: Pool,
  tenantId: string,
  sessions: readonly string[],
): Promise<Set<string>> {
  const { rows } = await pool.query<{ about: string }>(
    `select distinct session_id || ' ' || key as about from feedback
     where tenant_id = $2 and session_id = any($1::uuid[]) and run_id is null and comparative_experiment_id is null and score is null
       and (left(value, 1) in ('{', '[') or length(value) > 250)`,
    [sessions, tenantId],
  );
  return new Set(rows.map(({ about }) => about));
}
