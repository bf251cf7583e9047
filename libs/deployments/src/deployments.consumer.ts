import { type EventContext, EventStore, handle, idOf, nameStream, release, Vault } from '@fairlead/eventing';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern } from '@nestjs/microservices';
import { completeDeletion, deploymentModel, markProvisioned, type DeploymentState } from './deployment';
import type { DeploymentEvent } from './deployment-events';

/** Answers a deployment's own events: what it asks for is prepared, and what it leaves behind is cleared away. */
@Controller()
export class DeploymentsConsumer {
  constructor(
    private readonly store: EventStore,
    private readonly vault: Vault,
  ) {}

  /** Nothing has to be prepared yet, so a new deployment is ready at once. */
  @EventPattern<string>('DeploymentCreated')
  async provision(@Ctx() context: EventContext): Promise<void> {
    await this.follow(context, markProvisioned);
  }

  /** The name is free again and the secrets can never be read again. */
  @EventPattern<string>('DeploymentDeletionRequested')
  async remove(@Ctx() context: EventContext): Promise<void> {
    const { stream, data, metadata } = context.event;
    const { name } = data as { name: string };
    const names = nameStream('deploymentName', metadata.tenant ?? '', name);
    await release(this.store, names, stream, { tenant: metadata.tenant, actor: 'system:deployments' });
    await this.follow(context, completeDeletion);
    await this.vault.shred(idOf(stream));
  }

  private async follow(
    { event }: EventContext,
    decide: (state: DeploymentState) => readonly DeploymentEvent[],
  ): Promise<void> {
    const { tenant, requestId, traceparent } = event.metadata;
    const metadata = { tenant, requestId, traceparent, actor: 'system:deployments', causationId: event.id };
    await handle(this.store, deploymentModel, event.stream, decide, metadata);
  }
}
