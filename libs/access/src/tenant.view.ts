import { Injectable } from '@nestjs/common';
import { idOf, type Projection, type Recorded, requireOwn } from '@fairlead/eventing';
import { Pool, type PoolClient } from 'pg';
import { statusAfter, type Tenant, type TenantEvent } from './tenant';

export interface TenantRow extends Tenant {
  /** Version of its stream. */
  readonly version: number;
}

type Times = 'created_at' | 'status_since';
type Stored = Omit<TenantRow, Times> & Readonly<Record<Times, Date>>;

const COLUMNS = 'id, organization_id, display_name, tenant_handle, created_at, version, status, status_since';

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
        await tx.query(`insert into tenants (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, 'active', $5)`, values);
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
  constructor(private readonly pool: Pool) {}

  /** Those of the given ids that exist. */
  async byIds(ids: readonly string[]): Promise<TenantRow[]> {
    return this.select('id = any($1::uuid[])', [ids]);
  }

  /** The tenants of an organisation, or of all organisations, oldest first; removed ones when they are asked for. */
  async list(organizationId: string | undefined, removed: boolean): Promise<TenantRow[]> {
    return this.select(`($1::uuid is null or organization_id = $1) and ($2 or status <> 'removed')`, [
      organizationId ?? null,
      removed,
    ]);
  }

  private async select(condition: string, values: unknown[]): Promise<TenantRow[]> {
    const text = `select ${COLUMNS} from tenants where ${condition} order by created_at, id`;
    const { rows } = await this.pool.query<Stored>(text, values);
    return rows.map((row) => ({
      ...row,
      created_at: row.created_at.toISOString(),
      status_since: row.status_since.toISOString(),
    }));
  }
}
