import {
  type Gate,
  type IntegrationAddedMessage,
  type ExperimentUploadedMessage,
  type IntegrationChangedMessage,
  isSessionDeleted,
  PREVIEWING,
  repositoryOf,
  RepositoryNames,
  type SessionCreatedMessage,
} from '@fairlead/contracts';
import { EventStore, type Recorded, same, streamName } from '@fairlead/eventing';
import { Unprocessable } from '@fairlead/schema';
import { Inject, Injectable, Optional } from '@nestjs/common';
import type { SourceConfig, SourceRevisionConfig } from '../model/deployment-events';
import { InvalidDeployment } from '../model/deployment.errors';
import { DeploymentsOptions } from '../model/deployments.options';
import type { Listener } from '../listener/listener';
import { ListenerCommands } from '../listener/listener.commands';
import { ListenerNotFound } from '../listener/listener.errors';
import { NO_TAG } from '../model/source-rules';

/**
 * Checks what a deployment names of its workspace: an integration with a repository on its host, a listener with one of
 * its namespaces, and the datasets and experiments of its gates.
 */
@Injectable()
export class NamedResources {
  constructor(
    private readonly store: EventStore,
    private readonly listeners: ListenerCommands,
    private readonly options: DeploymentsOptions,
    @Optional() @Inject(RepositoryNames) private readonly names: RepositoryNames | null,
  ) {}

  /** @throws InvalidDeployment naming the first member that names nothing of the workspace */
  async check(tenantId: string, config: SourceConfig): Promise<void> {
    const { integration_id, repo_url, listener_id, listener_config } = config;
    if (integration_id !== undefined) {
      const host = await this.hostOf(tenantId, integration_id);
      if (host === undefined) {
        throw new InvalidDeployment('integration_id must be the id of an integration of this workspace.');
      }
      if (repo_url !== undefined && !repositoryOf(host, repo_url)) {
        throw new InvalidDeployment(`repo_url must be a repository on the host of the integration, ${host}.`);
      }
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

  /**
   * Asks the code host whether a short `repo_ref` is a tag. A host that does not answer refuses nothing.
   * @throws InvalidDeployment when pushes are to be built from a tag, which never moves
   */
  async checkBranch(tenantId: string, config: SourceConfig, { repo_ref }: SourceRevisionConfig): Promise<void> {
    const { build_on_push, integration_id, repo_url } = config;
    if (!build_on_push || !this.names || !integration_id || !repo_url) return;
    if (!repo_ref || repo_ref.startsWith('refs/')) return;
    if (await this.names.isTag(tenantId, integration_id, repo_url, repo_ref)) throw new InvalidDeployment(NO_TAG);
  }

  /**
   * Gates that are already declared stay, also when what they name has been deleted. `loc`: the place of the gates in the
   * request. @throws Unprocessable for the first one that names a dataset, or an experiment on it, which is not there, or
   * that wants what the executor cannot do
   */
  async checkGates(
    tenantId: string,
    gates: readonly Gate[],
    declared: readonly Gate[],
    loc: readonly string[],
  ): Promise<void> {
    for (const [index, gate] of gates.entries()) {
      if (declared.some((other) => same(other, gate))) continue;
      const { dataset_id, baseline } = gate;
      const { executor } = this.options;
      if (gate.preview && executor !== undefined && !PREVIEWING.includes(executor)) {
        const why = `needs the executor ${PREVIEWING.join(' or ')}, and this server has the executor ${executor}`;
        throw Unprocessable.at([...loc, index, 'preview'], why, true);
      }
      if (!(await this.hasDataset(tenantId, dataset_id))) {
        const place = [...loc, index, 'dataset_id'];
        throw Unprocessable.at(place, 'there is no dataset of this id in the workspace', dataset_id);
      }
      if (typeof baseline === 'string' || !('experiment_id' in baseline)) continue;
      const { experiment_id } = baseline;
      if (await this.hasExperiment(tenantId, experiment_id, dataset_id)) continue;
      const place = [...loc, index, 'baseline', 'experiment_id'];
      throw Unprocessable.at(place, 'there is no experiment of this id on the dataset', experiment_id);
    }
  }

  /**
   * Reads the ends of a dataset's log, which another service keeps: a dataset can have any number of events. Its workspace
   * never changes, and nothing but a new creation follows its deletion.
   */
  private async hasDataset(tenantId: string, id: string): Promise<boolean> {
    const [last] = await this.store.latest(streamName('dataset', id), 1);
    return last?.metadata.tenant === tenantId && last.type !== 'DatasetDeleted';
  }

  /** Reads the ends of an experiment's log. */
  private async hasExperiment(tenantId: string, id: string, datasetId: string): Promise<boolean> {
    const made = await this.firstOf(streamName('experiment', id));
    if (made?.metadata.tenant !== tenantId || datasetOf(made) !== datasetId) return false;
    return !(await isSessionDeleted(this.store, id));
  }

  private async firstOf(stream: string): Promise<Recorded | undefined> {
    for await (const [first] of this.store.parts(stream)) return first;
    return undefined;
  }

  /**
   * The address of an integration's host; undefined when it is none of the workspace. Reads the log of the integrations,
   * which another service may keep: whose an integration is is not published.
   */
  private async hostOf(tenantId: string, id: string): Promise<string | undefined> {
    const events = await this.store.read(streamName('integration', id));
    const added = events[0]?.data as (IntegrationAddedMessage & { readonly tenant_id: string }) | undefined;
    if (added?.tenant_id !== tenantId || events.some(({ type }) => type === 'IntegrationRemoved')) return undefined;
    const changed = events.map(({ data }) => (data as IntegrationChangedMessage).base_url);
    return changed.findLast((url) => url !== undefined);
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

/** The dataset of the experiment that an event makes; null without one. */
function datasetOf({ type, data }: Recorded): string | null {
  if (type === 'ExperimentUploaded') return (data as ExperimentUploadedMessage).dataset.id;
  return type === 'SessionCreated' ? ((data as SessionCreatedMessage).reference_dataset_id ?? null) : null;
}

/** Some names for a sentence. */
function listed(names: readonly string[]): string {
  const shown = names.slice(0, 10).join(', ');
  return names.length === 0 ? 'it has none' : names.length > 10 ? `${shown}, …` : shown;
}
