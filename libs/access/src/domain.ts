import type { MigrationClass } from '@fairlead/postgres';
import type { ReadModel } from '@fairlead/eventing';
import { ApiKeyEntity } from './keys/api-key.entity';
import { ConsoleSessionEntity } from './console/console-session.entity';
import { TenantEntity } from './tenants/tenant.entity';
import { AccessTables1763600000200 } from './migrations/1763600000200-access';
import { KeyMakers1764100000210 } from './migrations/1764100000210-key-makers';
import { TenantStatuses1764300000220 } from './migrations/1764300000220-tenant-statuses';
import { ConsoleSessions1764600000230 } from './migrations/1764600000230-console-sessions';
import { apiKeysProjection } from './keys/api-key.projection';
import { consoleSessionsProjection } from './console/console-session.projection';
import { tenantsProjection } from './tenants/tenant.projection';

/** Describe the tables of tenants, API keys and console sessions. */
export const accessEntities = [ApiKeyEntity, ConsoleSessionEntity, TenantEntity];

/** Tables of tenants and API keys. */
export const accessMigrations: MigrationClass[] = [
  AccessTables1763600000200,
  KeyMakers1764100000210,
  TenantStatuses1764300000220,
  ConsoleSessions1764600000230,
];

/** The tables of this domain that can be made again from the log. */
export function accessReadModels(): ReadModel[] {
  return [
    { name: 'tenants', tables: ['tenants'], projections: () => [tenantsProjection] },
    { name: 'api-keys', tables: ['api_keys'], projections: () => [apiKeysProjection] },
    { name: 'console-sessions', tables: ['console_sessions'], projections: () => [consoleSessionsProjection] },
  ];
}
