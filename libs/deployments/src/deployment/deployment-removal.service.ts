import { type Recorded, Vault } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { completeDeletion } from '../model/deployment';
import { DeploymentCommands } from './deployment.commands';
import { SourceStore } from '../archives/source.store';

/** Clears away what a deployment leaves behind. */
@Injectable()
export class DeploymentRemoval {
  constructor(
    private readonly commands: DeploymentCommands,
    private readonly vault: Vault,
    private readonly sources: SourceStore,
  ) {}

  /**
   * Ends a deployment whose deletion was requested: its name is free again, its sources are gone and its secrets can
   * never be read again. The event that says so is one of its workspace; the same one again does the same.
   */
  async complete(deploymentId: string, { id: causationId, metadata: said }: Recorded): Promise<void> {
    const state = await this.commands.stateOf(deploymentId);
    if (state?.status !== 'AWAITING_DELETE' || state.tenant_id !== said.tenant) return;
    const { tenant_id: tenant } = state;
    const { requestId, traceparent } = said;
    const metadata = { tenant, requestId, traceparent, actor: 'system:deployments' };
    await this.commands.releaseNames({ metadata }, state);
    await this.commands.run({ metadata: { ...metadata, causationId } }, deploymentId, completeDeletion);
    await this.sources.removeAll(deploymentId);
    await this.vault.shred(deploymentId);
  }
}
