import { type Followers, handle, load, type Metadata, release } from '@fairlead/eventing';
import { NotFound } from '@fairlead/schema';
import { v4 as newId, v5 as idFrom } from 'uuid';
import { type DatasetChanges, type DatasetCreated, datasetModel, type DatasetState } from './dataset';
import { type ExampleParts, storeChange } from '../examples/example-changes.commands';
import { type ChangedExample, encodeExamples } from '../examples/example-rows';
import { experimentsView } from '../sessions/experiments.view';
import type { Parts } from '../sessions/sessions.commands';
import { datasetNameStream, datasetStream, reserveDatasetName } from './dataset-names';
import { exactVersion } from './dataset-versions.queries';
import { changeDataset, createDataset as decideCreation, tagVersion } from './dataset-write';
import { NoSuchVersion } from './dataset.errors';

/** How long a change waits until it can be read, milliseconds. */
const VIEW_MS = 10_000;

/** The id of a new dataset; a repeated command with an Idempotency-Key names the same one. */
export function newDatasetId(tenantId: string, { causationId }: Metadata): string {
  return causationId === undefined ? newId() : idFrom(`dataset/${causationId}`, tenantId);
}

/**
 * Creates a dataset under a name that no other one of the tenant has, together with its first examples.
 * @throws DatasetExists, DatasetIdTaken, QuotaReached
 */
export async function createDataset(
  parts: ExampleParts,
  tenantId: string,
  id: string,
  data: DatasetCreated['data'],
  examples: readonly ChangedExample[],
  metadata: Metadata,
): Promise<DatasetState> {
  const { store } = parts;
  const stream = datasetStream(id);
  // Refused before anything is reserved or stored, unless the same command is repeated.
  const { state: before } = await load(store, datasetModel, stream);
  if (metadata.causationId === undefined) decideCreation(tenantId, id, data, new Date())(before);
  if (examples.length > 0) await parts.stored.require(tenantId, encodeExamples(examples).length);
  await reserveDatasetName(parts.store, tenantId, data.name, id, metadata);
  const stored = examples.length > 0 ? await storeChange(parts, tenantId, id, examples) : undefined;
  const decide = decideCreation(tenantId, id, data, new Date(), stored);
  return (await handle(store, datasetModel, stream, decide, metadata)).state;
}

/** Changes members of a dataset; resolves when that can be read. @throws NotFound, DatasetExists for a name that is in use */
export async function patchDataset(
  parts: Parts & { readonly followers: Followers },
  tenantId: string,
  id: string,
  changes: DatasetChanges,
  metadata: Metadata,
): Promise<void> {
  const { store, followers } = parts;
  const state = await ownDataset(parts, tenantId, id);
  const renamed = changes.name !== undefined && changes.name !== state.name;
  if (renamed) await reserveDatasetName(parts.store, tenantId, changes.name, id, metadata);
  const { position } = await handle(store, datasetModel, datasetStream(id), changeDataset(changes), metadata);
  if (renamed) await release(store, datasetNameStream(tenantId, state.name), datasetStream(id), metadata);
  await followers.shown(position, experimentsView.name, VIEW_MS);
}

/** Gives the version that was made at exactly `time`, the newest one when that is undefined, a tag. @throws NotFound, NoSuchVersion */
export async function tagDataset(
  parts: Parts,
  tenantId: string,
  id: string,
  tag: string,
  time: string | undefined,
  metadata: Metadata,
): Promise<void> {
  const { store, pool } = parts;
  await ownDataset(parts, tenantId, id);
  const version = await exactVersion(pool, id, time);
  if (version === undefined) throw new NoSuchVersion(time ?? 'latest');
  await handle(store, datasetModel, datasetStream(id), tagVersion(tag, version), metadata);
}

async function ownDataset({ store }: Parts, tenantId: string, id: string): Promise<DatasetState> {
  const { state } = await load(store, datasetModel, datasetStream(id));
  if (!state.exists || state.tenant !== tenantId) throw new NotFound(`Dataset ID ${id} not found.`);
  return state;
}
