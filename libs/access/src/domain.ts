import type { MigrationClass } from '@fairlead/postgres';
import type { ReadModel } from '@fairlead/eventing';
import { ApiKeyEntity } from './keys/api-key.entity';
import { ConsoleSessionEntity } from './console/console-session.entity';
import { TenantEntity } from './tenants/tenant.entity';
import { apiKeysProjection } from './keys/api-key.projection';
import { consoleSessionsProjection } from './console/console-session.projection';
import { tenantsProjection } from './tenants/tenant.projection';
import { SavedViewEntity } from './views/saved-view.entity';
import { savedViewsProjection } from './views/saved-view.projection';
import * as tables from './migrations/access-tables';

/** Describe the tables of tenants, API keys, console sessions and saved views. */
export const accessEntities = [ApiKeyEntity, ConsoleSessionEntity, SavedViewEntity, TenantEntity];

/** Tables of tenants and API keys. */
export const accessMigrations = Object.values<MigrationClass>(tables);

/** The tables of this domain that can be made again from the log. */
export function accessReadModels(): ReadModel[] {
  return [
    { name: 'tenants', tables: ['tenants'], projections: () => [tenantsProjection] },
    { name: 'api-keys', tables: ['api_keys'], projections: () => [apiKeysProjection] },
    { name: 'console-sessions', tables: ['console_sessions'], projections: () => [consoleSessionsProjection] },
    { name: 'saved-views', tables: ['saved_views'], projections: () => [savedViewsProjection] },
  ];
}
