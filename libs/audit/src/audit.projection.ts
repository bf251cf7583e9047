import { categoryOf, idOf, type Projection, type Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import { operationOf } from './operation';

/** Types that are left out, because another event of the same append says what was done. */
const UNTOLD = new Set(['NameReserved', 'NameReleased', 'BuildOnPushPaused', 'CommitSkipped']);
const SYSTEM = 'system:';

/**
 * Keeps the table `audit_log`: one row per action, whatever its metadata says, because clients choose request ids. What
 * the service does by itself is left out, except revisions for pushes, which somebody outside has caused.
 */
export const auditView: Projection = {
  name: 'audit.log',
  gatherMs: 500,
  async handle(events: Recorded[], tx: PoolClient) {
    const told = events.filter((event) => {
      const { tenant, actor } = event.metadata;
      if (tenant === undefined || actor === undefined || UNTOLD.has(event.type)) return false;
      if (event.type === 'RevisionCreated' && causeOf(event) === 'push') return true;
      return !actor.startsWith(SYSTEM) && !isPartOfAnother(event);
    });
    if (told.length === 0) return;
    await tx.query({
      name: 'insert audit log',
      text: `
        insert into audit_log
          (id, tenant_id, "time", operation, actor, resource, resource_id, request_id, request, address, reason)
        select * from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[],
          $8::text[], $9::text[], $10::text[], $11::text[])
        on conflict do nothing`,
      values: [
        told.map(({ id }) => id),
        told.map(({ metadata }) => metadata.tenant),
        told.map(({ time }) => time),
        told.map(({ type }) => operationOf(type)),
        told.map(({ metadata }) => metadata.actor),
        told.map(({ stream }) => categoryOf(stream)),
        told.map(({ stream }) => idOf(stream)),
        told.map(({ metadata }) => metadata.requestId ?? null),
        told.map(({ metadata }) => metadata.request ?? null),
        told.map(({ metadata }) => metadata.address ?? null),
        told.map(({ metadata }) => metadata.reason ?? null),
      ],
    });
  },
};

/** True for an event that follows from another one of its append: a revision from a change, a turn from a revision. */
function isPartOfAnother(event: Recorded): boolean {
  if (event.type === 'RevisionCreated') return causeOf(event) === 'change';
  if (event.type !== 'RevisionStatusChanged') return false;
  const { status, replaced_by } = event.data as { readonly status: string; readonly replaced_by?: string };
  return status !== 'INTERRUPTED' || replaced_by !== undefined;
}

/** The cause of a revision: a push, a roll-back, or the creation or change that is in the log just before it. */
function causeOf({ data }: Recorded): 'push' | 'redeploy' | 'change' {
  const { push, redeployed_from } = data as { readonly push?: object; readonly redeployed_from?: string };
  if (push) return 'push';
  return redeployed_from === undefined ? 'change' : 'redeploy';
}
