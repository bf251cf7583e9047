import { RolloutTables1763600004000 } from './1763600004000-rollouts';
import { DutyTenants1764200002000 } from './1764200002000-duty-tenants';
import { WaitingRollouts1764700000310 } from './1764700000310-waiting-rollouts';
import { WatchedDeployments1764700000320 } from './1764700000320-watched-deployments';

/** Tables of rollouts. */
export const rolloutsMigrations = [
  RolloutTables1763600004000,
  DutyTenants1764200002000,
  WaitingRollouts1764700000310,
  WatchedDeployments1764700000320,
];
