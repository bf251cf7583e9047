import { NotFound } from '@fairlead/schema';

/** No such deployment for this tenant, or it has been removed. */
export class DeploymentMissing extends NotFound {
  constructor(id: string) {
    super(`Deployment ID ${id} not found.`);
  }
}

/** The deployment has no such revision. */
export class RevisionMissing extends NotFound {
  constructor(id: string) {
    super(`Revision ID ${id} not found.`);
  }
}
