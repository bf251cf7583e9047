import {
  type EventStore,
  handle,
  holder,
  idOf,
  load,
  type Metadata,
  nameStream,
  release,
  streamName,
} from '@fairlead/eventing';
import { Conflict, NotFound } from '@fairlead/schema';
import type { Pool } from 'pg';
import { datasetModel, deleteDataset as decideDatasetDeletion, numberExperiment } from '../datasets/dataset';
import { sessionsOfDataset } from '../datasets/datasets.queries';
import {
  createSession as decideCreation,
  deleteSession as decideDeletion,
  experimentModel,
  type SessionCreated,
} from './experiment';
import { reserveSessionName, sessionNameStream, sessionStream } from './session-names';
import { SessionExists } from './session.errors';
import { patchSession as decidePatch, type SessionChanges } from './session-patch';

/** What commands work with. */
export interface Parts {
  readonly store: EventStore;
  readonly pool: Pool;
}

/** Sessions deleted at a time when their dataset goes. */
const SIDE_BY_SIDE = 8;

/**
 * Creates a session under a name that no other session of the tenant has; answers its id.
 * @throws Conflict when the name is taken (its detail names the session) or the id was used before.
 */
export async function createSession(
  { store }: Pick<Parts, 'store'>,
  tenantId: string,
  id: string,
  data: SessionCreated['data'],
  metadata: Metadata,
): Promise<void> {
  const stream = sessionStream(id);
  if ((await load(store, experimentModel, stream)).version > 0)
    throw new Conflict(`Session already exists. The id ${id} cannot be used again.`);
  await reserveName(store, tenantId, data.name, id, metadata);
  const { reference_dataset_id: dataset } = data;
  const number = dataset === null ? undefined : await numberOn(store, dataset, id, metadata);
  await handle(store, experimentModel, stream, decideCreation({ ...data, test_run_number: number }), metadata);
}

/** Which experiment on its dataset a new one is, undefined when the dataset is gone. */
async function numberOn(
  store: EventStore,
  dataset: string,
  experiment: string,
  metadata: Metadata,
): Promise<number | undefined> {
  const { state } = await handle(
    store,
    datasetModel,
    streamName('dataset', dataset),
    numberExperiment(experiment),
    metadata,
  );
  return state.numbers.get(experiment);
}

/** The id of the tenant's session of this name, if there is one. */
export async function sessionNamed({ store }: Parts, tenantId: string, name: string): Promise<string | undefined> {
  const stream = await holder(store, sessionNameStream(tenantId, name));
  if (!stream) return undefined;
  const { state } = await load(store, experimentModel, stream);
  return state.exists && state.tenant === tenantId ? idOf(stream) : undefined;
}

/** Changes a session. @throws NotFound, or Conflict when its new name is taken */
export async function patchSession(
  { store }: Pick<Parts, 'store'>,
  tenantId: string,
  id: string,
  changes: SessionChanges,
  metadata: Metadata,
): Promise<void> {
  const stream = sessionStream(id);
  const { state } = await load(store, experimentModel, stream);
  if (!state.exists || state.tenant !== tenantId) throw new NotFound(`Session ID ${id} not found.`);
  const renamed = changes.name !== undefined && changes.name !== state.name;
  if (renamed && changes.name !== undefined) await reserveName(store, tenantId, changes.name, id, metadata);
  await handle(store, experimentModel, stream, decidePatch(changes), metadata);
  if (renamed) await release(store, sessionNameStream(tenantId, state.name), stream, metadata);
}

/** Deletes a session with its runs and feedback and frees its name. @throws NotFound */
export async function deleteSession(parts: Parts, tenantId: string, id: string, metadata: Metadata): Promise<void> {
  if (!(await removeSession(parts, tenantId, id, metadata))) throw new NotFound(`Session ID ${id} not found.`);
}

/** Deletes a dataset, its examples and the sessions that were run on it, and frees their names. @throws NotFound */
export async function deleteDataset(parts: Parts, tenantId: string, id: string, metadata: Metadata): Promise<void> {
  const { store, pool } = parts;
  const stream = streamName('dataset', id);
  const { state } = await load(store, datasetModel, stream);
  if (!state.exists || state.tenant !== tenantId) throw new NotFound(`Dataset ID ${id} not found.`);
  const sessions = await sessionsOfDataset(pool, tenantId, id);
  for (let i = 0; i < sessions.length; i += SIDE_BY_SIDE) {
    await Promise.all(
      sessions.slice(i, i + SIDE_BY_SIDE).map((session) => removeSession(parts, tenantId, session, metadata)),
    );
  }
  await handle(store, datasetModel, stream, decideDatasetDeletion(), metadata);
  await release(store, nameStream('datasetName', tenantId, state.name), stream, metadata);
}

/** Deletes a session; false when the tenant has no such session. */
async function removeSession({ store }: Parts, tenantId: string, id: string, metadata: Metadata): Promise<boolean> {
  const stream = sessionStream(id);
  const { state } = await load(store, experimentModel, stream);
  if (!state.exists || state.tenant !== tenantId) return false;
  await handle(store, experimentModel, stream, decideDeletion(), metadata);
  await release(store, sessionNameStream(tenantId, state.name), stream, metadata);
  return true;
}

async function reserveName(
  store: EventStore,
  tenantId: string,
  name: string,
  id: string,
  metadata: Metadata,
): Promise<void> {
  try {
    await reserveSessionName(store, tenantId, name, id, metadata);
  } catch (error) {
    if (!(error instanceof SessionExists)) throw error;
    throw new Conflict(`Session already exists. Its name is used by session ${error.id}.`);
  }
}
