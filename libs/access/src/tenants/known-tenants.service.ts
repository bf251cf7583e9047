import { Consistency } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { Lookup } from '../keys/lookup';
import type { TenantEntity } from './tenant.entity';
import { tenantsProjection } from './tenant.projection';
import { TenantQueries } from './tenant.queries';

/** Workspaces by id. One that another process has just created is found as soon as that was answered there. */
@Injectable()
export class KnownTenants extends Lookup<TenantEntity> {
  constructor(queries: TenantQueries, consistency: Consistency) {
    super(
      (ids) => queries.byIds(ids),
      () => consistency.upToDate(undefined, [tenantsProjection.name]),
    );
  }
}
