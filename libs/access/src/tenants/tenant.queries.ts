import type { Actor } from '@fairlead/api';
import { Injectable } from '@nestjs/common';
import { Any, DataSource, Not, type Repository } from 'typeorm';
import type { ApiKey } from '../keys/api-key';
import type { Tenant } from './tenant';
import { TenantEntity } from './tenant.entity';

/** Queries of the table `tenants`. */
@Injectable()
export class TenantQueries {
  private readonly tenants: Repository<TenantEntity>;

  constructor(db: DataSource) {
    this.tenants = db.getRepository(TenantEntity);
  }

  /** Returns the tenants among the given ids that exist. */
  byIds(ids: readonly string[]): Promise<TenantEntity[]> {
    return this.tenants.findBy({ id: Any(ids) });
  }

  /** Returns the workspaces that a key opens, oldest first; `tenantId` is the one that it acts in. */
  openTo(
    { kind, organization_id }: Pick<ApiKey, 'kind' | 'organization_id'>,
    tenantId: string,
    removed = false,
  ): Promise<TenantEntity[]> {
    if (kind === 'tenant') return this.byIds([tenantId]);
    return this.list(kind === 'operator' ? undefined : organization_id, removed);
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

/** Returns a workspace as an actor sees it in lists. */
export function tenantRecord(actor: Actor, tenant: Tenant) {
  return {
    id: tenant.id,
    organization_id: tenant.organization_id,
    created_at: tenant.created_at,
    display_name: tenant.display_name,
    is_personal: false,
    is_deleted: tenant.status === 'removed',
    tenant_handle: tenant.tenant_handle,
    data_plane_url: null,
    read_only: !actor.scopes.has('write'),
    role_id: null,
    role_name: null,
    permissions: [...actor.scopes].sort(),
  };
}
