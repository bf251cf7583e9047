import { idOf, type Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import { workspaceOf } from '@fairlead/runs';
import type { DatasetDeleted } from './dataset';

/**
 * Removes a dataset with its examples. Runs of sessions that are still there keep the inputs that they shared with
 * their examples.
 */
export async function applyDatasetDeleted(event: Recorded<DatasetDeleted>, tx: PoolClient): Promise<void> {
  const id = idOf(event.stream);
  const tenant = await workspaceOf(tx, event, 'datasets');
  for (const table of ['runs', 'replaced_runs']) {
    await tx.query(
      `update ${table} r set inputs = e.inputs from examples e, sessions s
       where s.reference_dataset_id = $1 and r.session_id = s.id and r.inputs is null
         and s.tenant_id = $2 and r.tenant_id = $2 and e.tenant_id = $2
         and (e.dataset_id, e.id, e.valid_from) = (r.dataset_id, r.example_id, r.example_from)`,
      [id, tenant],
    );
  }
  await tx.query('delete from examples where dataset_id = $1 and tenant_id = $2', [id, tenant]);
  for (const table of ['dataset_versions', 'dataset_tags'])
    await tx.query(`delete from ${table} where dataset_id = $1 and (tenant_id = $2 or tenant_id is null)`, [
      id,
      tenant,
    ]);
  await tx.query("delete from shares where tenant_id = $2 and kind = 'dataset' and subject_id = $1", [id, tenant]);
  await tx.query('delete from share_links where tenant_id = $2 and dataset_id = $1', [id, tenant]);
  await tx.query('delete from datasets where id = $1 and tenant_id = $2', [id, tenant]);
}
