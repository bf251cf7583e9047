import type { HostStatusReportedMessage, RolloutStatusReportedMessage } from '@fairlead/contracts';
import { type EventContext, EventStore, handle, streamName } from '@fairlead/eventing';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { deploymentModel, type DeploymentState, owned, reportHost } from '../deployment/deployment';
import { DeploymentRemoval } from '../deployment/deployment.removal';
import type { DeploymentEvent } from '../deployment/deployment-events';
import { DeploymentBeingDeleted, DeploymentNotFound, RevisionEnded, RevisionWaits } from '../errors';
import { reportRevision } from './revision';

/** What is refused has been overtaken: the rollout learns it from the deployment's own events. */
const OVERTAKEN = [DeploymentNotFound, DeploymentBeingDeleted, RevisionEnded, RevisionWaits];

/** Lets deployments follow what their rollouts report. */
@Controller()
export class RolloutsConsumer {
  constructor(
    private readonly store: EventStore,
    private readonly removal: DeploymentRemoval,
  ) {}

  @EventPattern<string>('RolloutStatusReported')
  async rolloutReported(
    @Payload() { deployment_id, revision_id, status }: RolloutStatusReportedMessage,
    @Ctx() context: EventContext,
  ): Promise<void> {
    const decide = owned(context.metadata.tenant ?? '', deployment_id, reportRevision(revision_id, status));
    await this.follow(context, deployment_id, decide);
  }

  @EventPattern<string>('HostStatusReported')
  async hostReported(
    @Payload() { deployment_id, status, reason }: HostStatusReportedMessage,
    @Ctx() context: EventContext,
  ): Promise<void> {
    if (status === 'REMOVED') return this.removal.complete(deployment_id, context.event);
    await this.follow(context, deployment_id, reportHost(status, reason));
  }

  private async follow(
    { event }: EventContext,
    deploymentId: string,
    decide: (state: DeploymentState) => readonly DeploymentEvent[],
  ): Promise<void> {
    const { tenant, actor, traceparent } = event.metadata;
    const metadata = { tenant, actor, traceparent, causationId: event.id };
    try {
      await handle(this.store, deploymentModel, streamName('deployment', deploymentId), decide, metadata);
    } catch (error) {
      if (!OVERTAKEN.some((overtaken) => error instanceof overtaken)) throw error;
    }
  }
}
