import { idOf, type Projection, type Recorded, requireOwn } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import { statusAfter, type TenantEvent } from './tenant';

/** Keeps the table `tenants`. */
export const tenantsProjection: Projection = {
  name: 'tenants',
  categories: ['tenant'],
  async handle(events: Recorded[], tx: PoolClient) {
    for (const event of events as Recorded<TenantEvent>[]) {
      const { version, time } = event;
      if (event.type === 'TenantCreated') {
        requireOwn(event, { id: event.data.id });
        const { id, organization_id, display_name, tenant_handle } = event.data;
        const values = [id, organization_id, display_name, tenant_handle, time, version];
        await tx.query(
          `insert into tenants (id, organization_id, display_name, tenant_handle, created_at, version, status, status_since)
           values ($1, $2, $3, $4, $5, $6, 'active', $5)`,
          values,
        );
        continue;
      }
      await tx.query('update tenants set status = $2, status_since = $3, version = $4 where id = $1', [
        idOf(event.stream),
        statusAfter(event),
        time,
        version,
      ]);
    }
  },
};
