import { type EventContext, EventStore, handle, idOf } from '@fairlead/eventing';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern } from '@nestjs/microservices';
import { deploymentModel, markProvisioned } from './deployment';
import { DeploymentRemoval } from './deployment.removal';

/** Answers a deployment's own events where nobody rolls revisions out: there is nothing to prepare or to take away. */
@Controller()
export class DeploymentsConsumer {
  constructor(
    private readonly store: EventStore,
    private readonly removal: DeploymentRemoval,
  ) {}

  /** Nothing has to be prepared, so a new deployment is ready at once. */
  @EventPattern<string>('DeploymentCreated')
  async provision(@Ctx() { event }: EventContext): Promise<void> {
    const { tenant, requestId, traceparent } = event.metadata;
    const metadata = { tenant, requestId, traceparent, actor: 'system:deployments', causationId: event.id };
    await handle(this.store, deploymentModel, event.stream, markProvisioned, metadata);
  }

  @EventPattern<string>('DeploymentDeletionRequested')
  async remove(@Ctx() { event }: EventContext): Promise<void> {
    await this.removal.complete(idOf(event.stream), event);
  }
}
