import type {
  CommandEndedMessage,
  CommandStartedMessage,
  HostStatusReportedMessage,
  RevisionSpec,
  RolloutStatusReportedMessage,
} from '@fairlead/contracts';
import { type DomainEvent, EventStore, handle, load, type Metadata, recall, streamName } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { type Host, type HostEvent, hostModel, reportHost } from './host';
import { DeploymentMissing } from './rollout.errors';
import { recorded } from '@fairlead/executors';
import { report, type Rollout, type RolloutEvent, rolloutModel } from './rollout';
import { type Deployed, type Target, targetModel } from './target';

/** A deployment, the version of its stream and its host as a step begins: each stream is loaded once for a step. */
export interface Seen {
  readonly target: Deployed;
  readonly version: number;
  readonly host: Host;
}

/** A revision that was not deployed, and what of it is left. */
interface LeftBehind {
  readonly revision: RevisionSpec;
  readonly left: NonNullable<Rollout['left']>;
}

/** Event of a command; with an id it is recorded once, however often that is tried. */
export type CommandEvent = { readonly id?: string } & (
  | DomainEvent<'CommandStarted', CommandStartedMessage>
  | DomainEvent<'CommandEnded', CommandEndedMessage>
);

/** Reads what deployments say, and writes what rollouts say. What they reject with is `isOfRecord`. */
@Injectable()
export class RolloutReports {
  constructor(private readonly store: EventStore) {}

  /** A deployment as its stream tells it now, and its version. */
  async target(deploymentId: string): Promise<{ state: Target; version: number }> {
    return recorded(load(this.store, targetModel, streamName('deployment', deploymentId)));
  }

  /**
   * A deployment as this process remembers it, with the first `version` events of its stream at least, and its version.
   * What another process has added since then is noted for the deployment as well.
   */
  async knownTarget(deploymentId: string, version: bigint): Promise<{ state: Target; version: number }> {
    return recorded(recall(this.store, targetModel, streamName('deployment', deploymentId), Number(version)));
  }

  /** A deployment of this tenant. @throws DeploymentMissing */
  async owned(tenantId: string, deploymentId: string): Promise<Deployed> {
    return (await this.ownedAt(tenantId, deploymentId)).state;
  }

  /** A deployment of this tenant, and its version. @throws DeploymentMissing */
  async ownedAt(tenantId: string, deploymentId: string): Promise<{ state: Deployed; version: number }> {
    const { state, version } = await this.target(deploymentId);
    if (!state || state.removed || state.tenantId !== tenantId) throw new DeploymentMissing(deploymentId);
    return { state, version };
  }

  /** Last report about the place where a deployment runs. */
  async host(deploymentId: string): Promise<Host> {
    return (await recorded(load(this.store, hostModel, streamName('host', deploymentId)))).state;
  }

  /** State of the host as this process remembers it: without what another process has said since then. */
  async knownHost(deploymentId: string): Promise<Host> {
    return (await recorded(recall(this.store, hostModel, streamName('host', deploymentId)))).state;
  }

  /** State of the rollout of a revision. */
  async rollout(revisionId: string): Promise<Rollout> {
    return (await recorded(load(this.store, rolloutModel, streamName('rollout', revisionId)))).state;
  }

  /** The last revision that was not deployed and was put in place of the active one, and what of it is left. */
  async leftBehind({ ended, specs }: Deployed): Promise<LeftBehind | undefined> {
    for (const id of ended.toReversed()) {
      const { left } = await this.rollout(id);
      if (left) return { revision: specs.get(id)!, left };
    }
    return undefined;
  }

  /** Reports how the place where a deployment runs is; the same again writes nothing. */
  async sayHost(target: Deployed, said: HostStatusReportedMessage): Promise<void> {
    await this.decideHost(target, reportHost(said, Date.now()));
  }

  /**
   * Records the events that `decide` makes of the host's state, and returns the new state. Nothing is read where it makes
   * none of the state that is remembered: if another process has said something since then, the next step settles it.
   */
  async decideHost({ id, tenantId }: Deployed, decide: (state: Host) => HostEvent[]): Promise<Host> {
    const known = await this.knownHost(id);
    if (decide(known).length === 0) return known;
    return (await recorded(handle(this.store, hostModel, streamName('host', id), decide, metadata(tenantId)))).state;
  }

  /** Reports how far a revision has come. */
  async say({ tenantId }: Deployed, said: RolloutStatusReportedMessage): Promise<void> {
    await this.decide(tenantId, said.revision_id, report(said));
  }

  /** The rollout after a decision about it. */
  async decide(tenant: string, revisionId: string, decide: (state: Rollout) => RolloutEvent[]): Promise<Rollout> {
    const stream = streamName('rollout', revisionId);
    return (await recorded(handle(this.store, rolloutModel, stream, decide, metadata(tenant)))).state;
  }

  /** Records that a command begins or has ended. */
  async sayCommand(event: CommandEvent, metadata: Metadata): Promise<void> {
    await recorded(this.store.append(streamName('command', event.data.deployment_id), 'any', [event], metadata));
  }

  /** Records that the values of secrets are about to be used. */
  async sayRead({ id, tenantId }: Deployed, version: number, names: readonly string[]): Promise<void> {
    const read = { type: 'SecretsRead' as const, data: { version, names } };
    await recorded(this.store.append(streamName('secretAccess', id), 'any', [read], metadata(tenantId)));
  }
}

function metadata(tenant: string): Metadata {
  return { tenant, actor: 'system:rollouts' };
}
