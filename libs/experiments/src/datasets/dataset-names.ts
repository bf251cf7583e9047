import {
  type EventStore,
  idOf,
  load,
  type Metadata,
  nameStream,
  NameTaken,
  reserve,
  streamName,
} from '@fairlead/eventing';
import { datasetModel } from './dataset';

/** The stream of a dataset. */
export function datasetStream(id: string): string {
  return streamName('dataset', id);
}

/** The stream that reserves a dataset's name within its tenant. */
export function datasetNameStream(tenant: string, name: string): string {
  return nameStream('datasetName', tenant, name);
}

/**
 * Reserves a name for a dataset; returns the id of the dataset that has it now, which may be another one. A name left
 * behind by a dataset that was deleted, or that has another name, is free.
 */
export async function reserveDatasetName(
  store: EventStore,
  tenant: string,
  name: string,
  id: string,
  metadata: Metadata,
): Promise<string> {
  const isGone = async (owner: string) => {
    const { state, version } = await load(store, datasetModel, owner);
    return (version > 0 && !state.exists) || (state.exists && state.name !== name && 'unused');
  };
  try {
    await reserve(store, datasetNameStream(tenant, name), datasetStream(id), metadata, isGone);
    return id;
  } catch (error) {
    if (!(error instanceof NameTaken)) throw error;
    return idOf(error.owner);
  }
}
