import type { MigrationClass } from '@fairlead/postgres';
import { AccessTables1763600000200 } from './1763600000200-access';
import { KeyMakers1764100000210 } from './1764100000210-key-makers';
import { TenantStatuses1764300000220 } from './1764300000220-tenant-statuses';
import { ConsoleSessions1764600000230 } from './1764600000230-console-sessions';

/** Tables of tenants and API keys. */
export const accessMigrations: MigrationClass[] = [
  AccessTables1763600000200,
  KeyMakers1764100000210,
  TenantStatuses1764300000220,
  ConsoleSessions1764600000230,
];
