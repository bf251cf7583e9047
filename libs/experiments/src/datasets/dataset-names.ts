import { type EventStore, idOf, load, type Metadata, nameStream, reserveName, streamName } from '@fairlead/eventing';
import { datasetModel } from './dataset';
import { DatasetExists } from './dataset.errors';

/** The stream of a dataset. */
export function datasetStream(id: string): string {
  return streamName('dataset', id);
}

/** The stream that reserves a dataset's name within its tenant. */
export function datasetNameStream(tenant: string, name: string): string {
  return nameStream('datasetName', tenant, name);
}

/**
 * Reserves a name for a dataset. A name left behind by a dataset that was deleted, or that has another name, is free.
 * @throws DatasetExists when another dataset has it
 */
export async function reserveDatasetName(
  store: EventStore,
  tenant: string,
  name: string,
  id: string,
  metadata: Metadata,
): Promise<void> {
  const isGone = async (owner: string) => {
    const { state, version } = await load(store, datasetModel, owner);
    return (version > 0 && !state.exists) || (state.exists && state.name !== name && 'unused');
  };
  const taken = (owner: string) => new DatasetExists(`with the name '${name}'`, idOf(owner));
  await reserveName(store, datasetNameStream(tenant, name), datasetStream(id), isGone, { metadata, taken });
}
