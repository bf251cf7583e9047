import { RolloutTables1763600004000 } from './1763600004000-rollouts';
import { DutyTenants1764200002000 } from './1764200002000-duty-tenants';

/** Tables of rollouts. */
export const rolloutsMigrations = [RolloutTables1763600004000, DutyTenants1764200002000];
