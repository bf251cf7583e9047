import { idOf, type Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import type { Handler } from '@fairlead/experiments';
import { workspaceOf } from '@fairlead/runs';
import type { ShareEvent } from './share';

async function applyShare(event: Recorded<ShareEvent>, tx: PoolClient): Promise<void> {
  const [id, { tenant }] = [idOf(event.stream), event.metadata];
  switch (event.type) {
    case 'RunUnshared':
    case 'DatasetUnshared':
      await tx.query('delete from shares where id = $1 and tenant_id = $2', [
        id,
        await workspaceOf(tx, event, 'shares'),
      ]);
      return;
    case 'ShareLinkDeleted':
      await tx.query('delete from share_links where id = $1 and tenant_id = $2', [
        id,
        await workspaceOf(tx, event, 'share_links'),
      ]);
      return;
    case 'ShareLinkCreated': {
      const { kind, dataset_id, experiments, run_id, hidden, digest, expires_at } = event.data;
      await tx.query('delete from share_links where tenant_id = $1 and expires_at <= $2', [tenant, event.time]);
      await tx.query(
        `insert into share_links (id, tenant_id, kind, dataset_id, experiments, run_id, hidden, digest, created_at, expires_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (tenant_id, id) do nothing`,
        [id, tenant, kind, dataset_id, experiments, run_id, hidden, digest, event.time, expires_at],
      );
      return;
    }
    default: {
      const { id: subject, session_id, token, digest } = event.data;
      const kind = event.type === 'RunShared' ? 'run' : 'dataset';
      await tx.query(
        `insert into shares (id, tenant_id, kind, subject_id, session_id, token, digest, shared_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8)
         on conflict (tenant_id, id) do update set session_id = excluded.session_id, token = excluded.token,
           digest = excluded.digest, shared_at = excluded.shared_at`,
        [id, tenant, kind, subject, session_id, token, digest, event.time],
      );
    }
  }
}

/** Handlers of the events of shares in the view of experiments, by category of the stream. */
export const shareHandlers: ReadonlyMap<string, Handler> = new Map([
  ['share', (event, tx) => applyShare(event as Recorded<ShareEvent>, tx)],
  ['shareLink', (event, tx) => applyShare(event as Recorded<ShareEvent>, tx)],
] satisfies [string, Handler][]);
