import type { ControlAction } from '@fairlead/contracts';
import { BadRequest, Conflict, NotFound } from '@fairlead/schema';

/** The request contradicts a rule of deployments; the sentence names the member. */
export class InvalidDeployment extends BadRequest {}

/** No such deployment for this tenant, or it has been removed. */
export class DeploymentNotFound extends NotFound {
  constructor(id: string) {
    super(`Deployment ID ${id} not found.`);
  }
}

/** The deployment has not come to this version yet. */
export class VersionNotFound extends NotFound {
  constructor(id: string, version: number, newest: number) {
    super(`Version ${version} of deployment ID ${id} not found: its newest version is ${newest}.`);
  }
}

/** The deployment takes no more changes. */
export class DeploymentBeingDeleted extends Conflict {
  constructor(id: string) {
    super(`Deployment ID ${id} is being deleted.`);
  }
}

/** The program of the deployment cannot be stopped, started or restarted; the reason completes the sentence. */
export class NotControllable extends Conflict {
  constructor(id: string, action: ControlAction, reason: string) {
    super(`Deployment ID ${id} cannot be ${DONE[action]}: ${reason}.`);
  }
}

const DONE = { stop: 'stopped', start: 'started', restart: 'restarted' };

/** Another deployment of the tenant runs this agent in the environment. */
export class AgentDeployed extends Conflict {
  constructor(agentId: string, environment: string) {
    super(`The agent '${agentId}' already has a deployment in the environment '${environment}'.`);
  }
}
