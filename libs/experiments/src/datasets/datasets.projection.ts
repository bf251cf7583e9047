import { idOf, type Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import type { DatasetDeleted } from './dataset';

/**
 * Removes a dataset with its examples. Runs of sessions that are still there keep the inputs that they shared with
 * their examples.
 */
export async function applyDatasetDeleted(event: Recorded<DatasetDeleted>, tx: PoolClient): Promise<void> {
  const id = idOf(event.stream);
  for (const table of ['runs', 'replaced_runs']) {
    await tx.query(
      `update ${table} r set inputs = e.inputs from examples e, sessions s
       where s.reference_dataset_id = $1 and r.session_id = s.id and r.inputs is null and e.tenant_id = s.tenant_id
         and (e.dataset_id, e.id, e.valid_from) = (r.dataset_id, r.example_id, r.example_from)`,
      [id],
    );
  }
  await tx.query('delete from examples where dataset_id = $1', [id]);
  await tx.query('delete from dataset_versions where dataset_id = $1', [id]);
  await tx.query('delete from dataset_tags where dataset_id = $1', [id]);
  await tx.query(
    `delete from shares h using datasets d
     where d.id = $1 and h.tenant_id = d.tenant_id and h.kind = 'dataset' and h.subject_id = d.id`,
    [id],
  );
  await tx.query(
    `delete from share_links l using datasets d where d.id = $1 and l.tenant_id = d.tenant_id and l.dataset_id = d.id`,
    [id],
  );
  await tx.query('delete from datasets where id = $1', [id]);
}
