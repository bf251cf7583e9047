import type { MigrationClass } from '@fairlead/postgres';
import * as tables from './migrations/edge-tables';

/** The tables of idempotency keys and of the gateways' public keys. */
export const httpMigrations = Object.values<MigrationClass>(tables);
