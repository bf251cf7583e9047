import { idOf, type Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import type { ShareEvent } from './share';

/** Stores or removes what makes a run or a dataset readable for whoever has its token. */
export async function applyShare(event: Recorded<ShareEvent>, tx: PoolClient): Promise<void> {
  const id = idOf(event.stream);
  if (event.type === 'RunUnshared' || event.type === 'DatasetUnshared') {
    await tx.query('delete from shares where id = $1', [id]);
    return;
  }
  const { id: subject, session_id, token, digest } = event.data;
  const kind = event.type === 'RunShared' ? 'run' : 'dataset';
  await tx.query(
    `insert into shares (id, tenant_id, kind, subject_id, session_id, token, digest, shared_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (id) do update set session_id = excluded.session_id, token = excluded.token, digest = excluded.digest,
       shared_at = excluded.shared_at`,
    [id, event.metadata.tenant, kind, subject, session_id, token, digest, event.time],
  );
}
