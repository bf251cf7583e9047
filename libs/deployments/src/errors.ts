/** The request contradicts a rule of deployments; the message names the member. */
export class InvalidDeployment extends Error {
  override name = 'InvalidDeployment';
}

/** No such deployment for this tenant, or it has been removed. */
export class DeploymentNotFound extends Error {
  override name = 'DeploymentNotFound';
  constructor(id: string) {
    super(`Deployment ID ${id} not found.`);
  }
}

/** The deployment has not come to this version yet. */
export class VersionNotFound extends Error {
  override name = 'VersionNotFound';
  constructor(id: string, version: number, newest: number) {
    super(`Version ${version} of deployment ID ${id} not found: its newest version is ${newest}.`);
  }
}

/** The deployment takes no more changes. */
export class DeploymentBeingDeleted extends Error {
  override name = 'DeploymentBeingDeleted';
  constructor(id: string) {
    super(`Deployment ID ${id} is being deleted.`);
  }
}

export class RevisionNotFound extends Error {
  override name = 'RevisionNotFound';
  constructor(id: string) {
    super(`Revision ID ${id} not found.`);
  }
}

/** The revision has reached its last status. */
export class RevisionEnded extends Error {
  override name = 'RevisionEnded';
  constructor(id: string) {
    super(`Revision ID ${id} has already ended.`);
  }
}

/** Another revision of the deployment is running: this one waits for its end. */
export class RevisionWaits extends Error {
  override name = 'RevisionWaits';
  constructor(id: string, running: string) {
    super(`Revision ID ${id} waits until revision ${running} has ended.`);
  }
}
