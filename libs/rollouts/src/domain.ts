import type { MigrationClass } from '@fairlead/postgres';
import * as tables from './migrations/rollout-tables';

/** Tables of rollouts. */
export const rolloutsMigrations = Object.values<MigrationClass>(tables);
