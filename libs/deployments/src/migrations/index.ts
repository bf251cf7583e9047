import { DeploymentTables1763600001000 } from './1763600001000-deployments';
import { SourceArchives1763600004100 } from './1763600004100-source-archives';
import { DeploymentAgents1763900000100 } from './1763900000100-deployment-agents';
import { DeploymentEditions1764100000310 } from './1764100000310-deployment-editions';
import { OneSpelling1763700000100 } from './1763700000100-one-spelling';
import { PushTargets1763600003500 } from './1763600003500-push-targets';
import { TracingProjects1763600010200 } from './1763600010200-tracing-projects';
import { PushTargetRepositories1764500000100 } from './1764500000100-push-target-repositories';
import { CountedArchives1764400001200 } from './1764400001200-counted-archives';

/** Tables of deployments, their uploaded sources, and listeners. */
export const deploymentsMigrations = [
  DeploymentTables1763600001000,
  SourceArchives1763600004100,
  PushTargets1763600003500,
  OneSpelling1763700000100,
  TracingProjects1763600010200,
  DeploymentAgents1763900000100,
  DeploymentEditions1764100000310,
  CountedArchives1764400001200,
  PushTargetRepositories1764500000100,
];
