import { type EventStore, handle, holder, idOf, load, type Metadata } from '@fairlead/eventing';
import { v4 as randomId } from 'uuid';
import { addExperiment, checkTarget, datasetModel, type DatasetState, type Target } from '../datasets/dataset';
import { DatasetExists, DatasetMismatch } from '../datasets/dataset.errors';
import { datasetNameStream, datasetStream, reserveDatasetName } from '../datasets/dataset-names';
import { newDatasetId } from '../ids';
import type { Header } from './upload-schema';

/** A dataset by its id. */
interface Dataset {
  readonly id: string;
  readonly state: DatasetState;
}

/** A dataset that an experiment has been put into. */
export interface Joined extends Dataset {
  /** True when the dataset was made for it. */
  readonly isNew: boolean;
}

/**
 * The dataset that an upload means: by its id, by its name, or a new one whose missing id or name is made up.
 * Writes nothing.
 * @throws DatasetIdTaken, DatasetMismatch, NotExternallyManaged
 */
export async function findTarget(
  store: EventStore,
  tenant: string,
  header: Header,
  experiment: string,
): Promise<Target> {
  const { dataset_id: givenId, dataset_name: givenName } = header;
  const namesake = givenName === undefined ? undefined : await liveHolder(store, tenant, givenName);
  let id = givenId ?? namesake?.id ?? newDatasetId(experiment);
  let state = namesake?.state ?? datasetModel.initial;
  if (id !== namesake?.id) {
    const found = await load(store, datasetModel, datasetStream(id));
    // The id that would be made up can be computed, so that somebody else may have used it.
    const taken = givenId === undefined && found.version > 0 && !found.state.numbers.has(experiment);
    if (taken) id = randomId();
    else state = found.state;
  }
  const name = givenName ?? (state.exists ? state.name : `External dataset ${id}`);
  const description = header.dataset_description ?? null;
  const target = { id, tenant, name, description, named: givenName !== undefined };
  checkTarget(state, target);
  if (namesake !== undefined && namesake.id !== id) throw hasOtherId(namesake.id);
  return target;
}

/**
 * Puts the experiment into its dataset, reserving the name and creating the dataset when it is new; repeating it
 * changes nothing. Answers the dataset's id, which is another one when the same name has just been taken by an upload
 * beside this one.
 * @throws as findTarget
 */
export async function joinDataset(
  store: EventStore,
  target: Target,
  idGiven: boolean,
  experiment: string,
  metadata: Metadata,
): Promise<Joined> {
  const stream = datasetStream(target.id);
  const { state } = await load(store, datasetModel, stream);
  checkTarget(state, target);
  if (!state.exists) {
    try {
      await reserveDatasetName(store, target.tenant, target.name, target.id, metadata);
    } catch (error) {
      if (!(error instanceof DatasetExists)) throw error;
      if (idGiven) throw hasOtherId(error.id);
      return joinDataset(store, { ...target, id: error.id }, true, experiment, metadata);
    }
  }
  const joined = await handle(store, datasetModel, stream, addExperiment(experiment, target), metadata);
  return { id: target.id, state: joined.state, isNew: !state.exists };
}

function hasOtherId(id: string): DatasetMismatch {
  return new DatasetMismatch(`the dataset of this name has the id ${id}`);
}

async function liveHolder(store: EventStore, tenant: string, name: string): Promise<Dataset | undefined> {
  const owner = await holder(store, datasetNameStream(tenant, name));
  if (owner === undefined) return undefined;
  const { state, version } = await load(store, datasetModel, owner);
  const renamed = state.exists && state.name !== name;
  return renamed || (version > 0 && !state.exists) ? undefined : { id: idOf(owner), state };
}
