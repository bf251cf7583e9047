import type { HostStatusReportedMessage, RolloutStatusReportedMessage } from '@fairlead/contracts';
import { type EventContext, owned } from '@fairlead/eventing';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { deploymentAggregate, type DeploymentState, reportHost } from '../deployment/deployment';
import { DeploymentCommands } from '../deployment/deployment.commands';
import { DeploymentRemoval } from '../deployment/deployment.removal';
import type { DeploymentEvent } from '../deployment/deployment-events';
import { DeploymentBeingDeleted, DeploymentNotFound } from '../deployment/deployment.errors';
import { RevisionEnded, RevisionWaits } from './revision.errors';
import { reportRevision } from './revision';

/** What is refused has been overtaken: the rollout learns it from the deployment's own events. */
const OVERTAKEN = [DeploymentNotFound, DeploymentBeingDeleted, RevisionEnded, RevisionWaits];

/** Lets deployments follow what their rollouts report. */
@Controller()
export class RolloutsConsumer {
  constructor(
    private readonly commands: DeploymentCommands,
    private readonly removal: DeploymentRemoval,
  ) {}

  @EventPattern<string>('RolloutStatusReported')
  async rolloutReported(
    @Payload() { deployment_id, revision_id, status, executor }: RolloutStatusReportedMessage,
    @Ctx() context: EventContext,
  ): Promise<void> {
    const decide = reportRevision(revision_id, status, executor);
    const tenant = context.metadata.tenant ?? '';
    await this.follow(context, deployment_id, owned(deploymentAggregate, tenant, deployment_id, decide));
  }

  @EventPattern<string>('HostStatusReported')
  async hostReported(
    @Payload() { deployment_id, status, reason }: HostStatusReportedMessage,
    @Ctx() context: EventContext,
  ): Promise<void> {
    if (status === 'REMOVED') return this.removal.complete(deployment_id, context.event);
    const { tenant } = context.metadata;
    const decide = reportHost(status, reason);
    await this.follow(context, deployment_id, (state) => (state?.tenant_id === tenant ? decide(state) : []));
  }

  private async follow(
    { event }: EventContext,
    deploymentId: string,
    decide: (state: DeploymentState) => readonly DeploymentEvent[],
  ): Promise<void> {
    const { tenant, actor, traceparent } = event.metadata;
    const metadata = { tenant, actor, traceparent, causationId: event.id };
    try {
      await this.commands.run({ metadata }, deploymentId, decide);
    } catch (error) {
      if (!OVERTAKEN.some((overtaken) => error instanceof overtaken)) throw error;
    }
  }
}
