import { DeploymentDocumentEntity, DeploymentEntity } from './deployment/deployment.entity';
import { ListenerEntity } from './listener/listener.entity';
import { RevisionEntity } from './revision/revision.entity';
import { PushTargetEntity } from './source/push-target.entity';

/** Describe the tables of deployments, revisions, listeners and push targets. */
export const deploymentsEntities = [
  DeploymentDocumentEntity,
  DeploymentEntity,
  ListenerEntity,
  RevisionEntity,
  PushTargetEntity,
];
