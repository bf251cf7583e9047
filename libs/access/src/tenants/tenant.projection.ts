import { Injectable } from '@nestjs/common';
import { idOf, type Projection, type Recorded, requireOwn } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import { Any, DataSource, Not, type Repository } from 'typeorm';
import { statusAfter, type TenantEvent } from './tenant';
import { TenantEntity } from './tenant.entity';

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

/** Queries of the table `tenants`. */
@Injectable()
export class TenantView {
  private readonly tenants: Repository<TenantEntity>;

  constructor(db: DataSource) {
    this.tenants = db.getRepository(TenantEntity);
  }

  /** Returns the tenants among the given ids that exist. */
  byIds(ids: readonly string[]): Promise<TenantEntity[]> {
    return this.tenants.findBy({ id: Any(ids) });
  }

  /** Returns the tenants of an organisation, or of all, oldest first. `removed`: removed ones are included. */
  list(organizationId: string | undefined, removed: boolean): Promise<TenantEntity[]> {
    const where = {
      ...(organizationId !== undefined && { organization_id: organizationId }),
      ...(!removed && { status: Not<'removed'>('removed') }),
    };
    return this.tenants.find({ where, order: { created_at: 'asc', id: 'asc' } });
  }
}
