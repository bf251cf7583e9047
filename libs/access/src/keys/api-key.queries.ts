import { effectiveScopes } from '@fairlead/api';
import { Injectable } from '@nestjs/common';
import { Any, DataSource, IsNull, Not, type Repository } from 'typeorm';
import type { ApiKey, Manager } from './api-key';
import { ApiKeyEntity } from './api-key.entity';

/** Queries of the table `api_keys`. */
@Injectable()
export class ApiKeyQueries {
  private readonly keys: Repository<ApiKeyEntity>;

  constructor(db: DataSource) {
    this.keys = db.getRepository(ApiKeyEntity);
  }

  /** The keys among the given ids that exist, revoked ones too. */
  byIds(ids: readonly string[]): Promise<ApiKeyEntity[]> {
    return this.keys.findBy({ id: Any(ids) });
  }

  /** The keys a manager may see, newest first, without revoked ones. */
  list({ kind, tenantId, organizationId }: Manager): Promise<ApiKeyEntity[]> {
    const visible = { organization_id: organizationId, revoked_at: IsNull() };
    const ofTenant = { ...visible, kind: 'tenant' as const, tenant_id: tenantId };
    const where = kind === 'tenant' ? ofTenant : [ofTenant, { ...visible, kind: Not<'tenant'>('tenant') }];
    return this.keys.find({ where, order: { created_at: 'desc', id: 'asc' } });
  }

  /** Ids of keys of a tenant that work still, `most` at most. */
  async working(tenantId: string, most: number): Promise<string[]> {
    const keys = await this.keys.find({ where: { tenant_id: tenantId, revoked_at: IsNull() }, take: most });
    return keys.map(({ id }) => id);
  }
}

/** Returns a key as answers show it, without its text. */
export function keyRecord(key: ApiKey) {
  const { id, short_key, description, scopes, tenant_id, organization_id, created_at, expires_at, made_by } = key;
  const read_only = !effectiveScopes(scopes).has('write');
  const organization = key.kind !== 'tenant';
  return {
    id,
    short_key,
    description,
    scopes,
    read_only,
    organization,
    tenant_id,
    organization_id,
    created_at,
    expires_at,
    made_by,
  };
}
