import type { MigrationClass } from '@fairlead/postgres';
import * as tables from './migrations/eventing-tables';

/** Tables of the log, its followers and consumers, the vault, the seals and the quotas. */
export const eventingMigrations = Object.values<MigrationClass>(tables);
