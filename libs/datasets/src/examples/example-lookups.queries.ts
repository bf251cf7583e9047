import type { Pool } from 'pg';
import { found, isoTime, ofSession } from '@fairlead/runs';
import type { ExampleEntity } from './example.entity';
import type { ExampleAttachment } from './example-rows';

/** An example with the MD5 (hex) of its inputs and outputs in place of their texts. */
export interface CurrentExample extends Pick<
  ExampleEntity,
  'id' | 'dataset_id' | 'inputs' | 'outputs' | 'metadata' | 'attachments' | 'source_run_id'
> {
  /** ISO time. */
  readonly created_at: string;
}

export interface SourceRun extends Pick<ExampleEntity, 'id' | 'inputs' | 'outputs'> {
  readonly attachments: readonly ExampleAttachment[];
}

export async function readCurrent(
  pool: Pool,
  tenantId: string,
  dataset: string,
  ids: readonly string[],
  withMetadata: boolean,
): Promise<CurrentExample[]> {
  const { rows } = await pool.query<CurrentExample>(
    `select e.id, e.dataset_id, replace(e.inputs_md5::text, '-', '') as inputs,
       replace(e.outputs_md5::text, '-', '') as outputs,
       ${withMetadata ? 'e.metadata' : 'null as metadata'}, e.attachments,
       ${isoTime('e.created_at')} as created_at, e.source_run_id
     from examples e join datasets d on d.id = e.dataset_id and d.tenant_id = e.tenant_id
     where e.id = any($2::uuid[]) and e.tenant_id = $1 and e.valid_to is null
     order by e.dataset_id = $3 desc`,
    [tenantId, ids, dataset],
  );
  return rows;
}

export async function metadataBytes(
  pool: Pool,
  tenantId: string,
  dataset: string,
  ids: readonly string[],
): Promise<number> {
  const { rows } = await pool.query<{ bytes: string }>(
    `select coalesce(sum(octet_length(metadata)), 0) as bytes from examples
     where tenant_id = $3 and id = any($2::uuid[]) and dataset_id = $1 and valid_to is null`,
    [dataset, ids, tenantId],
  );
  return Number(rows[0]?.bytes ?? 0);
}

/** The datasets of current examples by their ids. @throws NotFound for an example that is not there */
export async function findDatasetsOf(
  pool: Pool,
  tenantId: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await pool.query<{ id: string; dataset_id: string }>(
    `select e.id, e.dataset_id from examples e join datasets d on d.id = e.dataset_id and d.tenant_id = e.tenant_id
     where e.id = any($2::uuid[]) and e.tenant_id = $1 and e.valid_to is null
     order by e.created_at desc, e.dataset_id desc`,
    [tenantId, ids],
  );
  const datasets = new Map(rows.map((row) => [row.id, row.dataset_id]));
  for (const id of ids) found(datasets.get(id), 'Example ID', id);
  return datasets;
}

/** The tenant's runs of these ids with what they hold, undefined when that is more than `most` bytes. */
export async function readSourceRuns(
  pool: Pool,
  tenantId: string,
  ids: readonly string[],
  most: number,
): Promise<Map<string, SourceRun> | undefined> {
  const source = `runs r left join examples e
    on e.tenant_id = $1 and (e.dataset_id, e.id, e.valid_from) = (r.dataset_id, r.example_id, r.example_from)
    where r.id = any($2::uuid[]) and r.tenant_id = $1 and ${ofSession('r', '$1')}`;
  const sizes = await pool.query<{ bytes: string }>(
    `select coalesce(sum(octet_length(coalesce(r.inputs, e.inputs, '')) + octet_length(coalesce(r.outputs, ''))), 0) as bytes
     from ${source}`,
    [tenantId, ids],
  );
  if (Number(sizes.rows[0]?.bytes) > most) return undefined;
  const { rows } = await pool.query<SourceRun>(
    `select r.id, coalesce(r.inputs, e.inputs, '{}') as inputs, r.outputs,
       coalesce((select json_agg(json_build_object('name', a.name, 'type', a.type, 'sha256', a.sha256, 'bytes', a.bytes) order by a.name)
         from run_attachments a where a.tenant_id = $1 and a.run_id = r.id), '[]') as attachments
     from ${source}`,
    [tenantId, ids],
  );
  return new Map(rows.map((row) => [row.id, row]));
}
