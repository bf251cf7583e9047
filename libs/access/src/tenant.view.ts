import { Injectable } from '@nestjs/common';
import type { Projection, Recorded } from '@fairlead/eventing';
import { Pool, type PoolClient } from 'pg';
import type { Tenant, TenantCreated } from './tenant';

export interface TenantRow extends Tenant {
  /** Version of its stream. */
  readonly version: number;
}

type Stored = Omit<TenantRow, 'created_at'> & { created_at: Date };

const COLUMNS = 'id, organization_id, display_name, tenant_handle, created_at, version';

/** Keeps the table `tenants`. */
export const tenantsProjection: Projection = {
  name: 'tenants',
  categories: ['tenant'],
  async handle(events: Recorded[], tx: PoolClient) {
    for (const { data, time, version } of events as Recorded<TenantCreated>[]) {
      const values = [data.id, data.organization_id, data.display_name, data.tenant_handle, time, version];
      await tx.query(`insert into tenants (${COLUMNS}) values ($1, $2, $3, $4, $5, $6)`, values);
    }
  },
};

/** Queries of the table `tenants`. */
@Injectable()
export class TenantView {
  constructor(private readonly pool: Pool) {}

  /** Those of the given ids that exist. */
  async byIds(ids: readonly string[]): Promise<TenantRow[]> {
    return this.select('id = any($1::uuid[])', [ids]);
  }

  /** The tenants of an organisation, or of all organisations, oldest first. */
  async list(organizationId?: string): Promise<TenantRow[]> {
    return this.select('$1::uuid is null or organization_id = $1', [organizationId ?? null]);
  }

  private async select(condition: string, values: unknown[]): Promise<TenantRow[]> {
    const text = `select ${COLUMNS} from tenants where ${condition} order by created_at, id`;
    const { rows } = await this.pool.query<Stored>(text, values);
    return rows.map((row) => ({ ...row, created_at: row.created_at.toISOString() }));
  }
}
