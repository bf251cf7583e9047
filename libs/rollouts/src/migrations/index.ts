import { RolloutTables1763600004000 } from './1763600004000-rollouts';

/** Tables of rollouts. */
export const rolloutsMigrations = [RolloutTables1763600004000];
