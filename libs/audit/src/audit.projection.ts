import { categoryOf, idOf, type Projection, type Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import { operationOf } from './operation';

/** Types that are left out, because the event of what was created follows. */
const UNTOLD = new Set(['NameReserved', 'NameReleased']);
const SYSTEM = 'system:';

/**
 * Keeps the table `audit_log`: one row per event, whatever its metadata says, because clients choose request ids. What
 * the service does by itself is left out.
 */
export const auditView: Projection = {
  name: 'audit.log',
  gatherMs: 500,
  async handle(events: Recorded[], tx: PoolClient) {
    const told = events.filter(({ type, metadata: { tenant, actor } }) => {
      return tenant !== undefined && actor !== undefined && !actor.startsWith(SYSTEM) && !UNTOLD.has(type);
    });
    if (told.length === 0) return;
    await tx.query({
      name: 'insert audit log',
      text: `
        insert into audit_log
          (id, tenant_id, "time", operation, actor, resource, resource_id, request_id, request, address, reason)
        select * from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[],
          $8::text[], $9::text[], $10::text[], $11::text[])
        on conflict (id) do nothing`,
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
