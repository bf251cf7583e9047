import {
  AggregateCommands,
  type Caller,
  type Changed as AggregateChanged,
  checkAppend,
  EventStore,
  fold,
  load,
  newId,
  Quotas,
  type Recorded,
  VersionMismatch,
} from '@fairlead/eventing';
import { checkUrl } from '@fairlead/outbound';
import { BadRequest, type Infer, NotFound } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { v7 as uuid } from 'uuid';
import { allows, type CommandContext } from '@fairlead/api';
import type { Gate } from '@fairlead/contracts';
import { create, patch } from '../model/change';
import {
  type Deployment,
  deploymentAggregate,
  deploymentModel,
  type DeploymentState,
  requestDeletion,
} from '../model/deployment';
import { DeploymentNotFound, VersionNotFound } from '../model/deployment.errors';
import type { DeploymentEvent, Secret } from '../model/deployment-events';
import { afterGates, declareGates } from '../model/gates';
import { claimsOf, nameForAgent, type Names } from '../model/deployment-names';
import type { createRequest, patchRequest } from './deployment.schema';
import { checkedBy, placeOf, rehearse } from '../model/plans';
import { DeploymentsOptions } from '../model/deployments.options';
import { SecretStore } from './secret.store';
import type { OfferedSecret } from '../model/secrets';
import { NamedResources } from './named-resources.service';

const HASH_LENGTH = 64;
/** The place of gates in a request that creates or changes a deployment. */
const GATES_SENT = ['body', 'source_config', 'gates'];

/** A deployment after a command. */
type Changed = Pick<AggregateChanged<Deployment, DeploymentEvent>, 'state' | 'events'>;

/** A deployment before and after a command that was only tried. */
export interface Tried extends Changed {
  readonly before: DeploymentState;
}

/** A command that was only tried, with the warnings of the place where the deployment would run. */
export interface Rehearsed extends Tried {
  readonly warnings: readonly string[];
}

type Decide = (state: Deployment) => DeploymentEvent[];
type CreateRequest = Infer<typeof createRequest>;
type PatchRequest = Infer<typeof patchRequest>;

/** A point of the past: a time or a version of the stream. */
interface Point {
  readonly at?: { readonly micros: number };
  readonly version?: number;
}

/** A deployment that may be created: its names, and its events, whose secrets are not sealed yet. */
interface Draft extends Names {
  readonly id: string;
  readonly events: readonly DeploymentEvent[];
}

/** Finds and changes the deployments of a tenant. */
@Injectable()
export class DeploymentCommands extends AggregateCommands<Deployment, DeploymentEvent> {
  constructor(
    store: EventStore,
    private readonly quotas: Quotas,
    private readonly secretStore: SecretStore,
    private readonly named: NamedResources,
    private readonly options: DeploymentsOptions,
  ) {
    super(store, deploymentAggregate);
  }

  /**
   * Returns the deployment as it was, folded from the events up to a time (microseconds since 1970) or version.
   * @throws BadRequest for both, DeploymentNotFound when it was not there, VersionNotFound
   */
  async findAt(tenantId: string, id: string, { at, version }: Point): Promise<Deployment> {
    if (at !== undefined && version !== undefined) throw new BadRequest('Send either at or version, not both.');
    let folded = deploymentModel.initial;
    let newest = 0;
    for await (const events of this.store.parts(this.stream(id))) {
      // Times of services whose clocks differ may not grow: nothing is left out from the middle.
      const later = events.findIndex(({ time, version: made }) =>
        at ? Date.parse(time) * 1000 > at.micros : made > (version ?? Infinity),
      );
      folded = fold(deploymentModel, later < 0 ? events : events.slice(0, later), folded);
      newest = events.at(-1)!.version;
      if (later >= 0) break;
    }
    const state = this.owned(tenantId, id, (deployment) => deployment)(folded);
    if (version !== undefined && version > newest) throw new VersionNotFound(id, version, newest);
    return state;
  }

  /** Returns what `change` would return; nothing is written. */
  async preview(caller: Caller, id: string, decide: Decide): Promise<Tried> {
    const stream = this.stream(id);
    const { state, version } = await load(this.store, deploymentModel, stream);
    const expected = caller.expectedVersion();
    const decided = this.owned(caller.tenantId, id, decide)(state);
    const edition = state?.edition ?? 0;
    if (expected !== undefined && expected !== edition) throw new VersionMismatch(stream, expected, edition);
    return pretend(caller, stream, state, version, decided);
  }

  /**
   * Decides about a new deployment; nothing is written, and no secret is sealed.
   * @throws InvalidDeployment when a rule is broken, or it names what the workspace does not have
   */
  async draft(caller: Caller, sent: CreateRequest): Promise<Draft> {
    const { tenantId } = caller;
    const { hosting, outbound, plans } = this.options;
    const { agent } = sent;
    const { gates, ...source_config } = sent.source_config;
    const name = sent.name ?? nameForAgent(agent!);
    if (source_config.repo_url !== undefined) checkUrl(source_config.repo_url, outbound, 'repo_url');
    const id = caller.command?.idFor('deployment') ?? newId();
    const secrets = await this.secretStore.pretend(id, [], sent.secrets);
    const wanted = { ...sent, source_config, gates, name, secrets };
    const decide = create(wanted, tenantId, { deploymentId: id, revisionId: newId() }, hosting);
    const events = (plans ? checkedBy(plans, decide) : decide)(null);
    await this.named.check(tenantId, source_config);
    await this.named.checkGates(tenantId, gates ?? [], [], GATES_SENT);
    await this.named.checkBranch(tenantId, source_config, sent.source_revision_config);
    return { id, name, agent, events };
  }

  /**
   * Creates a deployment under a name, and for an agent, that no other of the tenant has.
   * @throws InvalidDeployment when the name is taken, AgentDeployed, QuotaReached, AppendTooLarge
   */
  async create(caller: Caller, draft: Draft, sent: CreateRequest['secrets']): Promise<Changed> {
    const { tenantId } = caller;
    const { id } = draft;
    const events = withSecrets(draft.events, (await this.secretStore.seal(tenantId, id, [], sent)) as Secret[]);
    // What will be refused takes no name.
    checkAppend(this.stream(id), events, caller.metadata);
    return this.quotas.within('deployments', tenantId, id, async () => {
      await this.reserveNames(caller, id, draft);
      return this.run(caller, id, (state) => (state ? [] : events));
    });
  }

  /** Returns what `create` would return; nothing is written. */
  async previewCreate(caller: Caller, draft: Draft): Promise<Rehearsed> {
    for (const { stream, taken } of claimsOf(caller.tenantId, draft)) await this.checkFree(stream, taken);
    return this.rehearse(pretend(caller, this.stream(draft.id), null, 0, draft.events));
  }

  /**
   * Changes a deployment as its client asks.
   * @throws InvalidDeployment, Forbidden for gates that its client may not weaken, DeploymentBeingDeleted, DeploymentNotFound, VersionMismatch, AppendTooLarge
   */
  async patch(caller: CommandContext, id: string, wanted: PatchRequest): Promise<Changed> {
    const { tenantId } = caller;
    const { decide } = await this.patching(caller, id, wanted);
    const { secrets: offered } = wanted;
    if (!offered) return this.change(caller, id, decide());
    return this.changePrepared(caller, id, async (current) => {
      const sealed = await this.secretStore.seal(tenantId, id, current.secrets, offered);
      if (allows(caller.actor, 'secrets:read')) return decide(sealed);
      // A wrong value must be refused no sooner than the right one.
      const anew = await this.secretStore.seal(tenantId, id, [], offered);
      return this.fitting(caller, id, decide(anew), decide(sealed));
    });
  }

  /** Returns what `patch` would return; nothing is written. */
  async previewPatch(caller: CommandContext, id: string, wanted: PatchRequest): Promise<Rehearsed> {
    const { decide, place } = await this.patching(caller, id, wanted);
    if (!wanted.secrets) return this.rehearse(await this.preview(caller, id, decide()), place);
    const { state } = await this.find(caller.tenantId, id);
    const known = allows(caller.actor, 'secrets:read') ? state.secrets : [];
    const secrets = await this.secretStore.pretend(id, known, wanted.secrets);
    return this.rehearse(await this.preview(caller, id, decide(secrets)), place);
  }

  /** Replaces the gates of a deployment. @throws InvalidDeployment, Unprocessable, Forbidden */
  async declareGates(caller: CommandContext, id: string, gates: readonly Gate[]): Promise<Changed> {
    await this.checkGates(caller, id, gates, ['body', 'gates']);
    return this.change(caller, id, declareGates(gates, mayOverride(caller)));
  }

  private async checkGates({ tenantId }: Caller, id: string, gates: readonly Gate[], loc: readonly string[]) {
    const { state } = await this.find(tenantId, id);
    await this.named.checkGates(tenantId, gates, state.gates ?? [], loc);
  }

  /** Changes a deployment where the executor does not refuse what would run. */
  async changePlanned(caller: Caller, id: string, decide: Decide): Promise<Changed> {
    const { checked } = await this.planning(id);
    return this.change(caller, id, checked(decide));
  }

  /** Returns what `changePlanned` would return; nothing is written. */
  async previewPlanned(caller: Caller, id: string, decide: Decide): Promise<Rehearsed> {
    const { checked, place } = await this.planning(id);
    return this.rehearse(await this.preview(caller, id, checked(decide)), place);
  }

  /** Asks for the deletion of a deployment; its names are free at once. @throws DeploymentNotFound, VersionMismatch */
  async remove(
    caller: Caller,
    id: string,
    deleteTracingProject: boolean,
  ): Promise<AggregateChanged<Deployment, DeploymentEvent>> {
    const changed = await this.change(caller, id, requestDeletion(deleteTracingProject));
    await this.releaseNames(caller, changed.state);
    return changed;
  }

  /** Asks for the deletion of those deployments that exist, or only tries. @throws NotFound when none of them exists */
  async removeMany(caller: Caller, ids: readonly string[], deleteTracingProject: boolean, isTried: boolean) {
    const attempts = [...new Set(ids)].map(async (deployment_id) => {
      try {
        if (isTried) await this.preview(caller, deployment_id, requestDeletion(deleteTracingProject));
        else await this.remove(caller, deployment_id, deleteTracingProject);
        return { deployment_id };
      } catch (error) {
        if (error instanceof DeploymentNotFound) return { deployment_id, detail: error.message };
        throw error;
      }
    });
    const outcomes = await Promise.all(attempts);
    const failed = outcomes.filter((outcome) => outcome.detail !== undefined);
    const deleted = outcomes.filter(({ detail }) => detail === undefined).map(({ deployment_id }) => deployment_id);
    if (deleted.length === 0) throw new NotFound(failed[0]?.detail);
    return { deleted, failed };
  }

  /** Gives back the names that a deployment holds. */
  async releaseNames(caller: Pick<Caller, 'metadata'>, deployment: Deployment): Promise<void> {
    for (const { stream } of claimsOf(deployment.tenant_id, deployment))
      await this.release(stream, deployment.id, caller);
  }

  /** Decision about a PATCH with secrets that are sealed, or only pretended. */
  private async patching(caller: CommandContext, id: string, sent: PatchRequest) {
    const { gates, ...source_config } = sent.source_config ?? {};
    const wanted = { ...sent, source_config: sent.source_config && source_config };
    const { checked, place } = await this.planning(id);
    await this.checkBranch(caller, id, wanted);
    if (gates) await this.checkGates(caller, id, gates, GATES_SENT);
    const { hosting } = this.options;
    const revisionId = newId();
    const decide = (secrets?: readonly OfferedSecret[]) => {
      const changes = patch({ ...wanted, secrets }, revisionId, hosting);
      return checked(gates ? afterGates(gates, mayOverride(caller), changes) : changes);
    };
    return { decide, place };
  }

  /** The place where a deployment runs, and a check that refuses decisions which the executor would refuse there. */
  private async planning(id: string): Promise<{ checked: (decide: Decide) => Decide; place?: string }> {
    const { plans } = this.options;
    if (!plans) return { checked: (decide) => decide };
    const place = await placeOf(this.store, id);
    return { checked: (decide) => checkedBy(plans, decide, place), place };
  }

  /** Asks the place where a deployment would run. @throws InvalidDeployment, Unavailable */
  private async rehearse(tried: Tried, place?: string): Promise<Rehearsed> {
    const { plans } = this.options;
    return { ...tried, warnings: plans ? await rehearse(plans, tried, place) : [] };
  }

  /** A decision that is refused as well when the events of another one are too large. @throws AppendTooLarge */
  private fitting({ metadata }: Caller, id: string, other: Decide, decide: Decide): Decide {
    // What the store adds to the metadata is added here.
    const linked = { ...metadata, previous: 'x'.repeat(HASH_LENGTH) };
    return (state) => {
      const events = other(state);
      if (events.length > 0) checkAppend(this.stream(id), events, linked);
      return decide(state);
    };
  }

  /** Asks the code host about the branch of a PATCH that changes it, or that begins to build pushes. */
  private async checkBranch({ tenantId }: Caller, id: string, wanted: PatchRequest): Promise<void> {
    const { repo_ref: sent } = wanted.source_revision_config ?? {};
    const { build_on_push } = wanted.source_config ?? {};
    if (build_on_push === false || (sent === undefined && build_on_push === undefined)) return;
    const { state } = await this.find(tenantId, id);
    const { source_config: config, source_revision_config: revision } = state;
    const builds = build_on_push ?? (config.build_on_push || state.build_on_push_paused) ?? false;
    const repo_ref = sent ?? revision.repo_ref;
    if (config.build_on_push === builds && repo_ref === revision.repo_ref) return;
    await this.named.checkBranch(tenantId, { ...config, build_on_push: builds }, { repo_ref });
  }

  /** Takes all names or none. */
  private async reserveNames(caller: Caller, id: string, names: Names): Promise<void> {
    const reserved: string[] = [];
    try {
      for (const { stream, taken } of claimsOf(caller.tenantId, names)) {
        await this.reserve(stream, id, caller, taken);
        reserved.push(stream);
      }
    } catch (error) {
      for (const stream of reserved) await this.release(stream, id, caller);
      throw error;
    }
  }
}

/** Returns whether a caller may override, change and remove gates: it is an admin, and says why. */
export function mayOverride({ actor, metadata }: CommandContext): boolean {
  return allows(actor, 'admin') && metadata.reason !== undefined;
}

function pretend(
  { metadata }: Caller,
  stream: string,
  state: DeploymentState,
  version: number,
  decided: readonly DeploymentEvent[],
): Tried {
  const time = new Date().toISOString();
  const events = decided.map((event, index): Recorded<DeploymentEvent> => {
    return { ...event, id: uuid(), stream, version: version + index + 1, position: 0n, time, metadata };
  });
  return { before: state, state: fold(deploymentModel, events, state)!, events };
}

/** The events of a new deployment with its secrets as they are sealed. */
function withSecrets(events: readonly DeploymentEvent[], secrets: readonly Secret[]): DeploymentEvent[] {
  return events.map((event) =>
    'secrets' in event.data ? { ...event, data: { ...event.data, secrets } } : event,
  ) as DeploymentEvent[];
}
