import { idOf, Inapplicable, type Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import type { DatasetChanged } from './dataset';

const COLUMNS = ['name', 'description', 'metadata', 'inputs_schema', 'outputs_schema'] as const;

/** Changes members of a dataset; those that the event does not name stay. */
export async function applyDatasetChanged(event: Recorded<DatasetChanged>, tx: PoolClient): Promise<void> {
  const sets = COLUMNS.map((column, index) => `${column} = coalesce($${index + 4}, ${column})`);
  await tx.query(`update datasets set modified_at = $2, version = $3, ${sets.join(', ')} where id = $1`, [
    idOf(event.stream),
    event.time,
    event.version,
    ...COLUMNS.map((column) => event.data[column]),
  ]);
}

/** @throws Inapplicable when the dataset that an event names belongs to another workspace: nothing of that one changes */
export async function requireOwnDataset(
  { stream, type, metadata }: Recorded,
  dataset: string,
  db: Pick<PoolClient, 'query'>,
): Promise<void> {
  const { rows } = await db.query<{ tenant_id: string }>('select tenant_id from datasets where id = $1', [dataset]);
  const isForeign = rows[0] !== undefined && rows[0].tenant_id !== metadata.tenant;
  if (isForeign) throw new Inapplicable(`${type} of ${stream} names a dataset of another workspace.`);
}
