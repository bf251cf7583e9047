import { readWithin } from '@fairlead/blobs';
import { idOf, type Recorded } from '@fairlead/eventing';
import { Logger } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { workspaceOf } from '@fairlead/runs';
import type { DatasetTagged, ExamplesEvent } from '../datasets/dataset';
import { type ChangedExample, decodeExamples } from './example-rows';

const MOST_CHARACTERS = 4_000_000;
const MOST_ROWS = 1000;
const logger = new Logger('Examples');

/** Applies a change of examples. An event that was applied changes nothing: the version of the row tells. */
export async function applyExamples(event: Recorded<ExamplesEvent>, tx: PoolClient): Promise<void> {
  const id = idOf(event.stream);
  const { payload, as_of: asOf } = event.data;
  const tenant = await workspaceOf(tx, event, 'datasets');
  const { rowCount } = await tx.query(
    `update datasets set modified_at = $2, version = $3
     where id = $1 and tenant_id = $4 and not externally_managed and version < $3`,
    [id, event.time, event.version, tenant],
  );
  if (!rowCount) return;
  const bytes = await readWithin(tx, tenant, payload.sha256);
  if (!bytes) {
    // So it is when the log is replayed for a dataset that was deleted later.
    logger.warn(`The examples of version ${asOf} of ${event.stream} are missing: they cannot be shown.`);
    return;
  }
  let added = 0;
  let first = 0;
  for (const rows of batchesOf(decodeExamples(bytes))) {
    added += await applyRows({ id, tenant }, asOf, rows, first, tx);
    first += rows.length;
  }
  await tx.query('update datasets set example_count = example_count + $2 where id = $1 and tenant_id = $3', [
    id,
    added,
    tenant,
  ]);
  await tx.query(
    'insert into dataset_versions (dataset_id, as_of, tenant_id) values ($1, $2, $3) on conflict do nothing',
    [id, asOf, tenant],
  );
}

export async function applyDatasetTagged(event: Recorded<DatasetTagged>, tx: PoolClient): Promise<void> {
  const { tag, as_of: asOf } = event.data;
  const [id, tenant] = [idOf(event.stream), await workspaceOf(tx, event, 'datasets')];
  await tx.query(
    'delete from dataset_tags where dataset_id = $1 and tag = $2 and (tenant_id = $3 or tenant_id is null)',
    [id, tag, tenant],
  );
  await tx.query(
    `with changed as (update datasets set modified_at = $4, version = $5 where id = $1 and tenant_id = $6 returning id)
     insert into dataset_tags (dataset_id, tag, as_of, tenant_id) select id, $2, $3, $6 from changed`,
    [id, tag, asOf, event.time, event.version, tenant],
  );
}

/** Returns how many examples there are more than before; `first` is the place of the first row in the change. */
async function applyRows(
  { id: dataset, tenant }: { readonly id: string; readonly tenant: string | null },
  asOf: string,
  rows: readonly ChangedExample[],
  first: number,
  tx: PoolClient,
): Promise<number> {
  const ended = await tx.query(
    `update examples set valid_to = $2
     where dataset_id = $1 and tenant_id = $4 and id = any($3::uuid[]) and valid_to is null`,
    [dataset, asOf, rows.map(({ id }) => id), tenant],
  );
  const kept = rows.map((row, place) => ({ ...row, sequence: first + place })).filter(({ deleted }) => !deleted);
  const column = (name: keyof (typeof kept)[number]) => kept.map((row) => row[name] ?? null);
  const begun = await tx.query(
    `insert into examples (id, dataset_id, tenant_id, valid_from, created_at, name, inputs, outputs, metadata,
       source_run_id, attachments, sequence)
     select g.id, d.id, d.tenant_id, $2::timestamptz, coalesce(e.created_at, g.created_at, $2::timestamptz),
       coalesce(g.name, e.name, ''), coalesce(g.inputs, e.inputs, '{}'), coalesce(g.outputs, e.outputs),
       coalesce(g.metadata, e.metadata), coalesce(g.source_run_id, e.source_run_id),
       nullif(coalesce(g.attachments, e.attachments), '[]'), coalesce(e.sequence, g.sequence)
     from datasets d
       cross join unnest($3::uuid[], $4::timestamptz[], $5::text[], $6::text[], $7::text[], $8::text[], $9::uuid[], $10::jsonb[], $11::int[])
         g (id, created_at, name, inputs, outputs, metadata, source_run_id, attachments, sequence)
       left join examples e
         on e.tenant_id = $12 and e.id = g.id and e.dataset_id = d.id and e.valid_to = $2::timestamptz
     where d.id = $1 and d.tenant_id = $12`,
    [
      dataset,
      asOf,
      ...(['id', 'created_at', 'name', 'inputs', 'outputs', 'metadata', 'source_run_id'] as const).map(column),
      kept.map(({ attachments }) => attachments && JSON.stringify(attachments)),
      column('sequence'),
      tenant,
    ],
  );
  return (begun.rowCount ?? 0) - (ended.rowCount ?? 0);
}

function batchesOf(rows: readonly ChangedExample[]): ChangedExample[][] {
  const batches: ChangedExample[][] = [];
  let characters = Infinity;
  for (const row of rows) {
    const size = (row.inputs?.length ?? 0) + (row.outputs?.length ?? 0) + (row.metadata?.length ?? 0);
    characters += size;
    const last = batches.at(-1);
    if (last && last.length < MOST_ROWS && characters <= MOST_CHARACTERS) last.push(row);
    else {
      batches.push([row]);
      characters = size;
    }
  }
  return batches;
}
