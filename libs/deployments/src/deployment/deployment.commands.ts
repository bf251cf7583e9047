import {
  AggregateCommands,
  type Caller,
  type Changed as AggregateChanged,
  checkAppend,
  EventStore,
  fold,
  idOf,
  load,
  Quotas,
  type Recorded,
  VersionMismatch,
} from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { v7 as uuid } from 'uuid';
import { create, type NewDeployment, type NewIds } from './change';
import {
  type Deployment,
  deploymentAggregate,
  deploymentModel,
  type DeploymentState,
  requestDeletion,
} from './deployment';
import type { DeploymentEvent } from './deployment-events';
import { claimsOf, nameOf, type Names } from './deployment.names';
import type { Hosting } from '../source/source-rules';

const HASH_LENGTH = 64;

/** A deployment after a command. */
type Changed = Pick<AggregateChanged<Deployment, DeploymentEvent>, 'state' | 'events'>;

/** A deployment before and after a command that was only tried. */
export interface Tried extends Changed {
  readonly before: DeploymentState;
}

type Decide = (state: Deployment) => DeploymentEvent[];

/** Finds and changes the deployments of a tenant. */
@Injectable()
export class DeploymentCommands extends AggregateCommands<Deployment, DeploymentEvent> {
  constructor(
    store: EventStore,
    private readonly quotas: Quotas,
  ) {
    super(store, deploymentAggregate);
  }

  /** Refuses events that are too large to be recorded. @throws AppendTooLarge */
  check({ metadata }: Caller, id: string, events: readonly DeploymentEvent[]): void {
    // What the store adds to the metadata is added here.
    if (events.length > 0) checkAppend(this.stream(id), events, { ...metadata, previous: 'x'.repeat(HASH_LENGTH) });
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

  /** The id for a new deployment; for a creation that a crash may have cut off after it took the name, the same again. */
  async idFor({ tenantId, metadata: { causationId } }: Caller, name: string): Promise<string> {
    if (causationId === undefined) return uuid();
    const last = (await this.store.read(nameOf(tenantId, name))).at(-1);
    const isRepeated = last?.type === 'NameReserved' && last.metadata.causationId === causationId;
    return isRepeated ? idOf((last.data as { owner: string }).owner) : uuid();
  }

  /**
   * Creates a deployment under a name, and for an agent, that no other of the tenant has.
   * @throws InvalidDeployment when the name is taken or a rule is broken, AgentDeployed, QuotaReached, AppendTooLarge
   */
  async create(caller: Caller, ids: NewIds, wanted: NewDeployment, hosting: Hosting): Promise<Changed> {
    const { tenantId } = caller;
    const { deploymentId: id } = ids;
    const decide = create(wanted, tenantId, ids, hosting);
    // What will be refused takes no name.
    checkAppend(this.stream(id), decide(null), caller.metadata);
    return this.quotas.within('deployments', tenantId, id, async () => {
      await this.reserveNames(caller, id, wanted);
      return this.run(caller, id, decide);
    });
  }

  /** Returns what `create` would return; nothing is written. */
  async previewCreate(caller: Caller, ids: NewIds, wanted: NewDeployment, hosting: Hosting): Promise<Tried> {
    const { tenantId } = caller;
    const decided = create(wanted, tenantId, ids, hosting)(null);
    for (const { stream, taken } of claimsOf(tenantId, wanted)) await this.checkFree(stream, taken);
    return pretend(caller, this.stream(ids.deploymentId), null, 0, decided);
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

  /** Gives back the names that a deployment holds. */
  async releaseNames(caller: Pick<Caller, 'metadata'>, deployment: Deployment): Promise<void> {
    for (const { stream } of claimsOf(deployment.tenant_id, deployment))
      await this.release(stream, deployment.id, caller);
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
