import { idOf, type Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import type { ShareLinkEvent } from './share-link';

/** Stores or removes a link; with a new one, those of the workspace that have expired go. */
export async function applyShareLink(event: Recorded<ShareLinkEvent>, tx: PoolClient): Promise<void> {
  const id = idOf(event.stream);
  if (event.type === 'ShareLinkDeleted') {
    await tx.query('delete from share_links where id = $1', [id]);
    return;
  }
  const { kind, dataset_id, experiments, run_id, hidden, digest, expires_at } = event.data;
  const { tenant } = event.metadata;
  await tx.query('delete from share_links where tenant_id = $1 and expires_at <= $2', [tenant, event.time]);
  await tx.query(
    `insert into share_links (id, tenant_id, kind, dataset_id, experiments, run_id, hidden, digest, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (id) do nothing`,
    [id, tenant, kind, dataset_id, experiments, run_id, hidden, digest, event.time, expires_at],
  );
}
