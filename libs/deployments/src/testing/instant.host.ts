import { type EventContext, idOf } from '@fairlead/eventing';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern } from '@nestjs/microservices';
import type { DeploymentState } from '../model/deployment';
import type { DeploymentEvent } from '../model/deployment-events';
import { DeploymentCommands } from '../deployment/deployment.commands';
import { DeploymentRemoval } from '../deployment/deployment-removal.service';

/** Stands in for the rollouts of an installation: a new deployment is ready at once, and a deleted one gone. */
@Controller()
export class InstantHost {
  constructor(
    private readonly commands: DeploymentCommands,
    private readonly removal: DeploymentRemoval,
  ) {}

  @EventPattern<string>('DeploymentCreated')
  async provision(@Ctx() { event }: EventContext): Promise<void> {
    const { tenant, requestId, traceparent } = event.metadata;
    const metadata = { tenant, requestId, traceparent, actor: 'system:deployments', causationId: event.id };
    await this.commands.run({ metadata }, idOf(event.stream), provision);
  }

  @EventPattern<string>('DeploymentDeletionRequested')
  async remove(@Ctx() { event }: EventContext): Promise<void> {
    await this.removal.complete(idOf(event.stream), event);
  }
}

/** Says that the deployment can be served before a revision of it has been deployed. */
function provision(state: DeploymentState): DeploymentEvent[] {
  return state?.status === 'AWAITING_DATABASE' ? [{ type: 'DeploymentProvisioned', data: {} }] : [];
}
