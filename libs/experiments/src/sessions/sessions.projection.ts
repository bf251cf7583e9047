import { idOf, type Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import type { SessionPatched } from './experiment';

/** Columns that take a patched member as it is. */
const COLUMNS = ['name', 'description', 'end_time', 'default_dataset_id', 'extra', 'trace_tier'] as const;

/** Changes the row of a session, its searchable metadata included. */
export async function applySessionPatched(event: Recorded<SessionPatched>, tx: PoolClient): Promise<void> {
  const values: unknown[] = [idOf(event.stream), event.version];
  const changes = ['version = $2'];
  for (const column of COLUMNS) {
    const value = event.data[column];
    if (value === undefined) continue;
    values.push(value);
    changes.push(`${column} = $${values.length}`);
    if (column === 'extra') changes.push(`metadata = searchable_json($${values.length}::text) -> 'metadata'`);
  }
  await tx.query(`update sessions set ${changes.join(', ')} where id = $1`, values);
}
