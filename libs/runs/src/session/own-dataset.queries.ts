import { Inapplicable, type Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';

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
