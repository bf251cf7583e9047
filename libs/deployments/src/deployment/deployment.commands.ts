import {
  checkAppend,
  EventStore,
  fold,
  handle,
  type Handled,
  idOf,
  load,
  Quotas,
  type Recorded,
  streamName,
  VersionMismatch,
} from '@fairlead/eventing';
import { ifMatch, metadataOf } from '@fairlead/api';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { v7 as uuid } from 'uuid';
import { create, type NewDeployment, type NewIds } from './change';
import { type Deployment, deploymentModel, type DeploymentState, owned } from './deployment';
import type { DeploymentEvent } from './deployment-events';
import { checkNames, nameOf, releaseNames, reserveNames } from './deployment.names';
import type { Hosting } from '../source/source-rules';

const HASH_LENGTH = 64;

/** A deployment after a command. */
export interface Changed {
  readonly state: Deployment;
  readonly events: readonly Recorded<DeploymentEvent>[];
}

type Decide = (state: Deployment) => DeploymentEvent[];

/** Runs commands for requests: the caller's tenant, `If-Match` and metadata apply. */
@Injectable()
export class DeploymentCommands {
  constructor(
    private readonly store: EventStore,
    private readonly quotas: Quotas,
  ) {}

  /** @throws DeploymentNotFound, VersionMismatch, and whatever `decide` throws. */
  async change(request: FastifyRequest, id: string, decide: Decide): Promise<Changed> {
    const decideOwned = owned(request.actor.tenantId, id, decide);
    const stream = streamName('deployment', id);
    return changed(
      await handle(this.store, deploymentModel, stream, decideOwned, metadataOf(request), ifMatch(request)),
    );
  }

  /** Refuses events that are too large to be recorded. @throws AppendTooLarge */
  check(request: FastifyRequest, id: string, events: readonly DeploymentEvent[]): void {
    // What the store adds to the metadata is added here.
    const metadata = { ...metadataOf(request), previous: 'x'.repeat(HASH_LENGTH) };
    if (events.length > 0) checkAppend(streamName('deployment', id), events, metadata);
  }

  /** What `change` would answer; nothing is written. */
  async preview(request: FastifyRequest, id: string, decide: Decide): Promise<Changed> {
    const stream = streamName('deployment', id);
    const { state, version } = await load(this.store, deploymentModel, stream);
    const expected = ifMatch(request);
    const decided = owned(request.actor.tenantId, id, decide)(state);
    const edition = state?.edition ?? 0;
    if (expected !== undefined && expected !== edition) throw new VersionMismatch(stream, expected, edition);
    return pretend(request, stream, state, version, decided);
  }

  /** The id for a new deployment; for a creation that a crash may have cut off after it took the name, the same again. */
  async idFor(request: FastifyRequest, name: string): Promise<string> {
    const { causationId } = metadataOf(request);
    if (causationId === undefined) return uuid();
    const last = (await this.store.read(nameOf(request.actor.tenantId, name))).at(-1);
    const isRepeated = last?.type === 'NameReserved' && last.metadata.causationId === causationId;
    return isRepeated ? idOf((last.data as { owner: string }).owner) : uuid();
  }

  /**
   * Creates a deployment under a name, and for an agent, that no other of the tenant has.
   * @throws InvalidDeployment when the name is taken or a rule is broken, Conflict when the agent is, AppendTooLarge
   */
  async create(request: FastifyRequest, ids: NewIds, wanted: NewDeployment, hosting: Hosting): Promise<Changed> {
    const metadata = metadataOf(request);
    const { tenantId } = request.actor;
    const stream = streamName('deployment', ids.deploymentId);
    const decide = create(wanted, tenantId, ids, hosting);
    // What will be refused takes no name.
    checkAppend(stream, decide(null), metadata);
    const append = async () => {
      await reserveNames(this.store, tenantId, ids.deploymentId, wanted, metadata);
      return handle(this.store, deploymentModel, stream, decide, metadata);
    };
    return changed(await this.quotas.within('deployments', tenantId, ids.deploymentId, append));
  }

  /** What `create` would answer; nothing is written. */
  async previewCreate(request: FastifyRequest, ids: NewIds, wanted: NewDeployment, hosting: Hosting): Promise<Changed> {
    const { tenantId } = request.actor;
    const decided = create(wanted, tenantId, ids, hosting)(null);
    await checkNames(this.store, tenantId, wanted);
    return pretend(request, streamName('deployment', ids.deploymentId), null, 0, decided);
  }

  /** Frees the name, and the place of the agent, that a deployment held. */
  async releaseName(request: FastifyRequest, deployment: Deployment): Promise<void> {
    await releaseNames(this.store, deployment.tenant_id, deployment.id, deployment, metadataOf(request));
  }
}

function changed({ state, events }: Handled<DeploymentState, DeploymentEvent>): Changed {
  return { state: state!, events };
}

function pretend(
  request: FastifyRequest,
  stream: string,
  state: DeploymentState,
  version: number,
  decided: readonly DeploymentEvent[],
): Changed {
  const time = new Date().toISOString();
  const events = decided.map((event, index) => {
    const metadata = metadataOf(request);
    return { ...event, id: uuid(), stream, version: version + index + 1, position: 0n, time, metadata };
  });
  return { state: fold(deploymentModel, events, state)!, events };
}
