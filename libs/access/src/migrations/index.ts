import type { MigrationClass } from '@fairlead/postgres';
import { AccessTables1763600000200 } from './1763600000200-access';

/** Tables of tenants and API keys. */
export const accessMigrations: MigrationClass[] = [AccessTables1763600000200];
