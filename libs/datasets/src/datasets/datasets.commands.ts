import { PayloadStore } from '@fairlead/blobs';
import { AggregateCommands, type Caller, EventStore, Followers, nameStream, StoredBytes } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { EXPERIMENTS_VIEW, findReferenceDataset, SessionCommands, SessionNotFound, unlessGone } from '@fairlead/runs';
import { storeChange } from '../examples/example-changes.commands';
import { type ChangedExample, encodeExamples } from '../examples/example-rows';
import {
  type Dataset,
  datasetAggregate,
  type DatasetChanges,
  type DatasetCreated,
  type DatasetEvent,
  type DatasetState,
  deleteDataset,
  numberExperiment,
  setBaseline,
} from './dataset';
import { findVersion } from './dataset-versions.queries';
import { changeDataset, createDataset, tagVersion } from './dataset-write';
import { DatasetExists, NoSuchVersion, OtherDataset } from './dataset.errors';
import { sessionsOfDataset } from './datasets.queries';

/** Time for which a change waits until it can be read (ms). */
const VIEW_MS = 10_000;
/** Sessions deleted at a time when their dataset goes. */
const SIDE_BY_SIDE = 8;

@Injectable()
export class DatasetCommands extends AggregateCommands<Dataset, DatasetEvent> {
  constructor(
    store: EventStore,
    readonly pool: Pool,
    readonly followers: Followers,
    readonly payloads: PayloadStore,
    readonly stored: StoredBytes,
    private readonly sessions: SessionCommands,
  ) {
    super(store, datasetAggregate);
  }

  /**
   * Creates a dataset under a name that no other one of the tenant has, together with its first examples.
   * @throws DatasetExists, DatasetIdTaken, QuotaReached
   */
  async create(
    caller: Caller,
    id: string,
    data: DatasetCreated['data'],
    examples: readonly ChangedExample[],
  ): Promise<Dataset> {
    const { tenantId, command } = caller;
    // Refused before anything is reserved or stored, unless an earlier attempt may have created it.
    if (!command?.mayBeRepeated) createDataset(tenantId, id, data, new Date())(await this.stateOf(id));
    if (examples.length > 0) await this.stored.require(tenantId, encodeExamples(examples).length);
    await this.reserveName(caller, data.name, id);
    const stored = examples.length > 0 ? await storeChange(this, tenantId, id, examples) : undefined;
    return (await this.run(caller, id, createDataset(tenantId, id, data, new Date(), stored))).state;
  }

  /**
   * Changes members of a dataset, and its baseline when one is given, all of them or none; resolves when that can be read.
   * @param baseline null for none, undefined to leave it as it is
   * @throws DatasetNotFound, DatasetExists for a name that is in use, SessionNotFound, OtherDataset for a baseline that is
   * not on this dataset
   */
  async patch(caller: Caller, id: string, changes: DatasetChanges, baseline?: string | null): Promise<void> {
    const { name } = (await this.find(caller.tenantId, id)).state;
    if (typeof baseline === 'string') await this.requireExperiment(caller.tenantId, id, baseline);
    const next = changes.name ?? name;
    if (next !== name) await this.reserveName(caller, next, id);
    const { position } = await this.change(caller, id, (state) => [
      ...changeDataset(changes)(state),
      ...(baseline === undefined ? [] : setBaseline(baseline)(state)),
    ]);
    if (next !== name) await this.release(nameOf(caller.tenantId, name), id, caller);
    await this.followers.shown(position, EXPERIMENTS_VIEW, VIEW_MS);
  }

  /**
   * Gives the version that was current at `time`, the newest one when that is undefined, a tag.
   * @throws DatasetNotFound, NoSuchVersion
   */
  async tag(caller: Caller, id: string, tag: string, time: string | undefined): Promise<void> {
    await this.find(caller.tenantId, id);
    const version = await findVersion(this.pool, caller.tenantId, id, time);
    if (version === undefined) throw new NoSuchVersion(time ?? 'latest');
    await this.change(caller, id, tagVersion(tag, version.time));
  }

  private async requireExperiment(tenantId: string, id: string, experimentId: string): Promise<void> {
    const dataset = await findReferenceDataset(this.pool, tenantId, experimentId);
    if (dataset === undefined) throw new SessionNotFound(experimentId);
    if (dataset !== id) throw new OtherDataset(experimentId, id);
  }

  /** Returns the number of an experiment on a dataset, the next one when it has none; undefined without the dataset. */
  async numberOf(caller: Caller, id: string, experimentId: string): Promise<number | undefined> {
    const { state } = await this.run(caller, id, numberExperiment(experimentId));
    return (state as DatasetState)?.numbers.get(experimentId);
  }

  /** Deletes a dataset, its examples and the sessions that were run on it, and frees their names. @throws DatasetNotFound */
  async delete(caller: Caller, id: string): Promise<void> {
    const { name } = (await this.find(caller.tenantId, id)).state;
    const sessions = await sessionsOfDataset(this.pool, caller.tenantId, id);
    for (let i = 0; i < sessions.length; i += SIDE_BY_SIDE) {
      const some = sessions.slice(i, i + SIDE_BY_SIDE);
      await Promise.all(some.map((session) => this.sessions.delete(caller, session).catch(unlessGone)));
    }
    await this.change(caller, id, deleteDataset);
    await this.release(nameOf(caller.tenantId, name), id, caller);
  }

  async named(
    tenantId: string,
    name: string,
  ): Promise<{ readonly id: string; readonly state: DatasetState } | undefined> {
    const found = await this.holderOf(nameOf(tenantId, name));
    return found?.state && found.state.name !== name ? undefined : found;
  }

  reserveName(caller: Caller, name: string, id: string): Promise<void> {
    const taken = (owner: string) => new DatasetExists(`with the name '${name}'`, owner);
    return this.reserve(nameOf(caller.tenantId, name), id, caller, taken, (dataset) => dataset.name === name);
  }
}

function nameOf(tenantId: string, name: string): string {
  return nameStream('datasetName', tenantId, name);
}
