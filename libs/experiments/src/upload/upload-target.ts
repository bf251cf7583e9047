import type { Caller } from '@fairlead/eventing';
import { v4 as randomId } from 'uuid';
import { type Header, newDatasetId } from '@fairlead/runs';
import {
  addExperiment,
  checkTarget,
  type Dataset,
  type DatasetCommands,
  DatasetExists,
  DatasetMismatch,
  isThere,
  type Target,
} from '@fairlead/datasets';

export interface Joined {
  readonly id: string;
  readonly state: Dataset;
  readonly isNew: boolean;
}

/**
 * The dataset that an upload means: by its id, by its name, or a new one whose missing id or name is made up.
 * Writes nothing.
 * @throws DatasetIdTaken, DatasetMismatch, NotExternallyManaged
 */
export async function findTarget(
  datasets: DatasetCommands,
  tenant: string,
  header: Header,
  experiment: string,
): Promise<Target> {
  const { dataset_id: givenId, dataset_name: givenName } = header;
  const namesake = givenName === undefined ? undefined : await datasets.named(tenant, givenName);
  let id = givenId ?? namesake?.id ?? newDatasetId(experiment);
  let state = namesake?.state ?? null;
  if (id !== namesake?.id) {
    const found = await datasets.stateOf(id);
    // The id that would be made up can be computed, so that somebody else may have used it.
    const taken = givenId === undefined && found !== null && !found.numbers.has(experiment);
    if (taken) id = randomId();
    else state = found;
  }
  const name = givenName ?? (isThere(state) ? state.name : `External dataset ${id}`);
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
  datasets: DatasetCommands,
  caller: Caller,
  target: Target,
  idGiven: boolean,
  experiment: string,
): Promise<Joined> {
  const before = await datasets.stateOf(target.id);
  checkTarget(before, target);
  const isNew = !isThere(before);
  if (isNew) {
    try {
      await datasets.reserveName(caller, target.name, target.id);
    } catch (error) {
      if (!(error instanceof DatasetExists)) throw error;
      if (idGiven) throw hasOtherId(error.id);
      return joinDataset(datasets, caller, { ...target, id: error.id }, true, experiment);
    }
  }
  const { state } = await datasets.run(caller, target.id, addExperiment(experiment, target));
  return { id: target.id, state, isNew };
}

function hasOtherId(id: string): DatasetMismatch {
  return new DatasetMismatch(`the dataset of this name has the id ${id}`);
}
