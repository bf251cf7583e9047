import type { IntegrationAddedMessage } from '@fairlead/contracts';
import { EventStore, streamName } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import type { SourceConfig } from '../deployment/deployment-events';
import { InvalidDeployment } from '../deployment/deployment.errors';
import type { Listener } from '../listener/listener';
import { ListenerCommands } from '../listener/listener.commands';
import { ListenerNotFound } from '../listener/listener.errors';

/** Checks what a new deployment names of its workspace: an integration, and a listener with one of its namespaces. */
@Injectable()
export class NamedResources {
  constructor(
    private readonly store: EventStore,
    private readonly listeners: ListenerCommands,
  ) {}

  /** @throws InvalidDeployment naming the first member that names nothing of the workspace */
  async check(tenantId: string, { integration_id, listener_id, listener_config }: SourceConfig): Promise<void> {
    if (integration_id !== undefined && !(await this.hasIntegration(tenantId, integration_id))) {
      throw new InvalidDeployment('integration_id must be the id of an integration of this workspace.');
    }
    if (listener_id === undefined) return;
    const { compute_config } = await this.listener(tenantId, listener_id);
    const { cluster_namespaces = [] } = compute_config;
    const { cluster_namespace } = listener_config ?? {};
    if (cluster_namespace === undefined || cluster_namespaces.includes(cluster_namespace)) return;
    throw new InvalidDeployment(
      `cluster_namespace must be a namespace of the listener: ${listed(cluster_namespaces)}.`,
    );
  }

  /** Reads the log of the integrations, which another service may keep: whose an integration is is not published. */
  private async hasIntegration(tenantId: string, id: string): Promise<boolean> {
    const events = await this.store.read(streamName('integration', id));
    const added = events[0]?.data as (IntegrationAddedMessage & { readonly tenant_id: string }) | undefined;
    return added?.tenant_id === tenantId && !events.some(({ type }) => type === 'IntegrationRemoved');
  }

  private async listener(tenantId: string, id: string): Promise<Listener> {
    try {
      return (await this.listeners.find(tenantId, id)).state;
    } catch (error) {
      if (!(error instanceof ListenerNotFound)) throw error;
      throw new InvalidDeployment('listener_id must be the id of a listener of this workspace.');
    }
  }
}

/** Some names for a sentence. */
function listed(names: readonly string[]): string {
  const shown = names.slice(0, 10).join(', ');
  return names.length === 0 ? 'it has none' : names.length > 10 ? `${shown}, …` : shown;
}
