import type { EventStore, ReadModel } from '@fairlead/eventing';
import { DeploymentDocumentEntity, DeploymentEntity } from './deployment/deployment.entity';
import { ListenerEntity } from './listener/listener.entity';
import { RevisionEntity } from './deployment/revision.entity';
import { PushTargetEntity } from './source/push-target.entity';
import { DeploymentTables1763600001000 } from './migrations/1763600001000-deployments';
import { SourceArchives1763600004100 } from './migrations/1763600004100-source-archives';
import { DeploymentAgents1763900000100 } from './migrations/1763900000100-deployment-agents';
import { DeploymentEditions1764100000310 } from './migrations/1764100000310-deployment-editions';
import { OneSpelling1763700000100 } from './migrations/1763700000100-one-spelling';
import { PushTargets1763600003500 } from './migrations/1763600003500-push-targets';
import { TracingProjects1763600010200 } from './migrations/1763600010200-tracing-projects';
import { PushTargetRepositories1764500000100 } from './migrations/1764500000100-push-target-repositories';
import { WorkspacesOfArchives1764900062500 } from './migrations/1764900062500-workspaces-of-archives';
import { CountedArchives1764400001200 } from './migrations/1764400001200-counted-archives';
import { DeploymentsView } from './deployment/deployment.projection';
import { listenersProjection } from './listener/listener.projection';
import { PushTargetsView } from './source/push-targets.projection';

/** Describe the tables of deployments, revisions, listeners and push targets. */
export const deploymentsEntities = [
  DeploymentDocumentEntity,
  DeploymentEntity,
  ListenerEntity,
  RevisionEntity,
  PushTargetEntity,
];

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
  WorkspacesOfArchives1764900062500,
];

/** The tables of this domain that can be made again from the log. */
export function deploymentsReadModels(store: EventStore): ReadModel[] {
  return [
    {
      name: 'deployments',
      tables: ['deployments', 'deployment_documents', 'revisions'],
      projections: () => [new DeploymentsView()],
    },
    { name: 'listeners', tables: ['listeners'], projections: () => [listenersProjection(store)] },
    { name: 'push-targets', tables: ['push_targets'], projections: (pool) => [new PushTargetsView(pool)] },
  ];
}
