import { DeploymentTables1763600001000 } from './1763600001000-deployments';

/** Tables of the deployments' read model. */
export const deploymentsMigrations = [DeploymentTables1763600001000];
