import { idOf, type Recorded } from '@fairlead/eventing';
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
