import { EventStore, handle, load, type Recorded, streamName, Vault } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { completeDeletion, deploymentModel } from './deployment';
import { releaseNames } from './deployment.names';
import { SourceStore } from '../source/source.store';

/** Clears away what a deployment leaves behind. */
@Injectable()
export class DeploymentRemoval {
  constructor(
    private readonly store: EventStore,
    private readonly vault: Vault,
    private readonly sources: SourceStore,
  ) {}

  /**
   * Ends a deployment whose deletion was requested: its name is free again, its sources are gone and its secrets can
   * never be read again. `cause` is the event that says so; the same one again does the same.
   */
  async complete(deploymentId: string, { id: causationId, metadata: said }: Recorded): Promise<void> {
    const stream = streamName('deployment', deploymentId);
    const { state } = await load(this.store, deploymentModel, stream);
    if (state?.status !== 'AWAITING_DELETE') return;
    const { tenant_id: tenant } = state;
    const { requestId, traceparent } = said;
    const metadata = { tenant, requestId, traceparent, actor: 'system:deployments' };
    await releaseNames(this.store, tenant, deploymentId, state, metadata);
    await handle(this.store, deploymentModel, stream, completeDeletion, { ...metadata, causationId });
    await this.sources.removeAll(deploymentId);
    await this.vault.shred(deploymentId);
  }
}
