import { idOf, type Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import { workspaceOf } from '../common/rows.queries';
import { deleteRefusedItems } from '../refused/refused-items.store';
import type { SessionDeleted } from './experiment';
import { deleteFirstRows } from './session-rows.queries';

/** Deletes a session with its first rows. Those of a large one go after it, and nobody sees them any more. */
export async function applySessionDeleted(event: Recorded<SessionDeleted>, tx: PoolClient): Promise<void> {
  const id = idOf(event.stream);
  const tenant = await workspaceOf(tx, event, 'sessions');
  const { rows } = await tx.query<{ dataset: string | null; tenant: string; name: string }>(
    `delete from sessions where id = $1 and tenant_id = $2
     returning reference_dataset_id as dataset, tenant_id as tenant, name`,
    [id, tenant],
  );
  await deleteFirstRows(tx, tenant, id);
  // Notes of services of the version before have no workspace until they are filled.
  await tx.query('delete from persisted_experiments where session_id = $1 and (tenant_id = $2 or tenant_id is null)', [
    id,
    tenant,
  ]);
  await tx.query('delete from trace_recounts where session_id = $1 and tenant_id = $2', [id, tenant]);
  await tx.query('delete from shares where session_id = $1 and tenant_id = $2', [id, tenant]);
  if (rows[0]) await deleteRefusedItems(tx, { ...rows[0], id }, event.time);
  await tx.query('delete from share_links where experiments @> array[$1::uuid] and tenant_id = $2', [id, tenant]);
  await tx.query(
    `with gone as (delete from session_run_bytes where session_id = $1 and tenant_id = $2 returning bytes)
     update stored_run_bytes b set bytes = greatest(b.bytes - gone.bytes, 0) from gone where b.tenant_id = $2`,
    [id, tenant],
  );
  const dataset = rows[0]?.dataset;
  if (!dataset) return;
  await tx.query(
    `update datasets d set session_count = greatest(session_count - 1, 0),
       last_session_start_time = (
         select max(start_time) from sessions where reference_dataset_id = $1 and tenant_id = $2)
     where id = $1 and tenant_id = $2`,
    [dataset, rows[0]!.tenant],
  );
}

/** Removes what a workspace had beside its datasets and sessions. */
export async function applyTenantRemoved({ stream }: Recorded, tx: PoolClient): Promise<void> {
  const tables = ['awaited_feedback', 'feedback_configs', 'feedback_changes', 'shares', 'share_links', 'refused_items'];
  for (const table of tables) {
    await tx.query(`delete from ${table} where tenant_id = $1`, [idOf(stream)]);
  }
}
