import { hash } from 'node:crypto';
import type { Caller } from '@fairlead/eventing';
import {
  BadRequest,
  check,
  Conflict,
  datetime,
  NotFound,
  PayloadTooLarge,
  Problems,
  requireSame,
  Unprocessable,
} from '@fairlead/schema';
import { v4 as newId } from 'uuid';
import { EXPERIMENTS_VIEW } from '@fairlead/runs';
import type { Dataset } from '../datasets/dataset';
import { newAttachments } from './example-attachments';
import { type ExampleParts, recordChange, type RecordedChange, VIEW_MS } from './example-changes.commands';
import {
  type CurrentExample,
  findDatasetsOf,
  metadataBytes,
  readCurrent,
  readSourceRuns,
  type SourceRun,
} from './example-lookups.queries';
import { changedLists, type ListChange, newMetadata, sameMetadata } from './example-metadata';
import type { ChangedExample } from './example-rows';
import { MOST_OWN_ATTACHMENTS, type SentExample, type SentExamples } from './examples-body';

const MOST_BYTES = 24 * 1024 * 1024;

/**
 * Adds examples to a dataset. An example that is there already with the same content is not added again, so that a
 * request can be repeated; returns the ids of all.
 * @throws NotFound, Conflict for an id that is in use, Unprocessable
 */
export async function createExamples(
  datasets: ExampleParts,
  caller: Caller,
  datasetId: string,
  { examples: sent, contents }: SentExamples,
): Promise<RecordedChange & { readonly ids: readonly string[] }> {
  const { tenantId, command } = caller;
  const idOf = ({ id }: SentExample, nth: number) => id ?? command?.idFor('example', nth) ?? newId();
  const named = sent.map((example, nth) => ({ ...example, id: idOf(example, nth) }));
  const ids = named.map(({ id }) => id);
  const runs = await sourceRuns(datasets, tenantId, named);
  const decide = async (state: Dataset) => {
    await requireReadable(datasets.pool, tenantId, datasetId, ids);
    const current = byId(await readCurrent(datasets.pool, tenantId, datasetId, ids, true));
    return named.flatMap((example) => {
      const added = newExample(example, state, runs);
      const known = current.get(example.id);
      if (!known) return added;
      if (known.dataset_id !== datasetId) {
        throw new Conflict(`Example ${example.id} already exists in another dataset.`);
      }
      if (!isSame(known, added)) throw new Conflict(`Example ${example.id} already exists with another content.`);
      return [];
    });
  };
  const change = await recordChange(datasets, caller, datasetId, 'ExamplesAdded', decide, contents);
  return { ...change, ids };
}

/** Adds examples, and resolves when they can be read. @throws as `createExamples` */
export async function createShown(datasets: ExampleParts, caller: Caller, datasetId: string, sent: SentExamples) {
  const { ids, asOf, position } = await createExamples(datasets, caller, datasetId, sent);
  await datasets.followers.shown(position, EXPERIMENTS_VIEW, VIEW_MS);
  return { ids, asOf };
}

/** Changes examples of a dataset. @throws NotFound for an example that is not in it, AttachmentMismatch */
export function updateExamples(
  datasets: ExampleParts,
  caller: Caller,
  datasetId: string,
  { examples: sent, contents }: SentExamples,
): Promise<RecordedChange> {
  const ids = sent.map(({ id }) => id!);
  const decide = async () => {
    const current = await currentOf(datasets, caller.tenantId, datasetId, ids);
    return sent.flatMap((example) => changedExample(example, current.get(example.id!)!));
  };
  return recordChange(datasets, caller, datasetId, 'ExamplesChanged', decide, contents);
}

/** Changes lists in the metadata of examples, of which splits are one. @throws NotFound */
export function changeLists(
  datasets: ExampleParts,
  caller: Caller,
  datasetId: string,
  ids: readonly string[],
  changes: readonly ListChange[],
): Promise<RecordedChange> {
  const decide = async () => {
    const current = await currentOf(datasets, caller.tenantId, datasetId, ids);
    return [...new Set(ids)].flatMap((id) => {
      const after = changedLists(current.get(id)!.metadata, changes);
      return after === undefined ? [] : { id, metadata: after };
    });
  };
  return recordChange(datasets, caller, datasetId, 'SplitsChanged', decide);
}

/** Ends examples: later versions do not have them. Those of one dataset end together. @throws NotFound */
export async function deleteExamples(datasets: ExampleParts, caller: Caller, ids: readonly string[]): Promise<void> {
  const { tenantId } = caller;
  const places = await findDatasetsOf(datasets.pool, tenantId, ids);
  for (const dataset of new Set(places.values())) {
    const own = [...new Set(ids)].filter((id) => places.get(id) === dataset);
    const decide = async () => {
      const current = await currentOf(datasets, tenantId, dataset, own, false);
      return [...current.keys()].map((id) => ({ id, deleted: true }) as const);
    };
    await recordChange(datasets, caller, dataset, 'ExamplesDeleted', decide);
  }
}

async function sourceRuns(
  { pool }: ExampleParts,
  tenantId: string,
  sent: readonly SentExample[],
): Promise<ReadonlyMap<string, SourceRun>> {
  const ids = new Set(sent.flatMap(({ sourceRun }) => sourceRun ?? []));
  if (ids.size === 0) return new Map();
  const runs = await readSourceRuns(pool, tenantId, [...ids], MOST_BYTES);
  if (!runs) throw new PayloadTooLarge(`The source runs hold more than ${MOST_BYTES} bytes together.`);
  const missing = [...ids].find((id) => !runs.has(id));
  if (missing !== undefined) throw new NotFound(`Run ID ${missing} not found.`);
  return runs;
}

function newExample(
  example: SentExample & { readonly id: string },
  { name }: Dataset,
  runs: ReadonlyMap<string, SourceRun>,
): ChangedExample {
  const { id, created_at, useSourceRun, sourceRun, sourceAttachments } = example;
  const run = sourceRun === undefined ? undefined : runs.get(sourceRun);
  if (useSourceRun && !run) throw Unprocessable.at(['body', id, 'source_run_id'], 'is needed with use_source_run_io');
  const inputs = example.inputs ?? (useSourceRun ? run?.inputs : undefined);
  if (inputs === undefined) throw Unprocessable.at(['body', id, 'inputs'], 'is needed');
  const outputs = example.outputs ?? (useSourceRun ? objectText(run?.outputs) : undefined);
  const missing = sourceAttachments.find((wanted) => !run?.attachments.some((one) => one.name === wanted));
  if (missing !== undefined) throw new NotFound(`Attachment '${missing}' of the source run not found.`);
  const taken = (run?.attachments ?? []).filter((one) => useSourceRun || sourceAttachments.includes(one.name));
  const attachments = newAttachments(id, taken, example.attachments, undefined) ?? taken;
  requireFew(id, attachments.length);
  return {
    id,
    created_at,
    name: `#${id.slice(0, 4)} @ ${name}`,
    inputs,
    outputs,
    metadata: newMetadata(example.metadata, example.splits),
    source_run_id: sourceRun,
    attachments: attachments.length > 0 ? attachments : undefined,
  };
}

/** The outputs of runs may be any JSON, those of examples are objects. */
function objectText(json: string | null | undefined): string | undefined {
  if (!json) return undefined;
  return json.trimStart().startsWith('{') ? json : `{"output":${json}}`;
}

function changedExample(sent: SentExample, current: CurrentExample): ChangedExample[] {
  const { id, inputs, outputs } = sent;
  if (sent.dataset !== undefined && sent.dataset !== current.dataset_id) {
    throw new BadRequest(`dataset_id of example ${id!} cannot be changed: an example stays in its dataset.`);
  }
  requireOwn(sent, current);
  const attachments = newAttachments(id!, current.attachments ?? [], sent.attachments, sent.operations);
  requireFew(id!, attachments?.length ?? 0);
  const changes = {
    inputs: inputs !== undefined && md5(inputs) === current.inputs ? undefined : inputs,
    outputs: outputs !== undefined && md5(outputs) === current.outputs ? undefined : outputs,
    metadata: newMetadata(sent.metadata, sent.splits, current.metadata),
    attachments: attachments && listed(attachments) === listed(current.attachments) ? undefined : attachments,
  };
  return Object.values(changes).some((value) => value !== undefined) ? [{ id: id!, ...changes }] : [];
}

/** @throws BadRequest for what an example gets only when it is made */
function requireOwn({ created_at, sourceRun, useSourceRun, sourceAttachments }: SentExample, current: CurrentExample) {
  const own = { created_at: current.created_at, source_run_id: current.source_run_id };
  const use = { use_source_run_io: false, use_source_run_attachments: [] };
  requireSame(
    {
      created_at: created_at === undefined ? undefined : check(datetime(), created_at, [], new Problems()),
      source_run_id: sourceRun,
      use_source_run_io: useSourceRun,
      use_source_run_attachments: sourceAttachments,
    },
    { ...own, ...use },
  );
}

function requireFew(id: string, attachments: number): void {
  if (attachments <= MOST_OWN_ATTACHMENTS) return;
  throw new PayloadTooLarge(`Example ${id} has more than ${MOST_OWN_ATTACHMENTS} attachments.`);
}

async function currentOf(
  { pool }: ExampleParts,
  tenantId: string,
  datasetId: string,
  ids: readonly string[],
  withMetadata = true,
): Promise<Map<string, CurrentExample>> {
  if (withMetadata) await requireReadable(pool, tenantId, datasetId, ids);
  const current = byId(await readCurrent(pool, tenantId, datasetId, ids, withMetadata));
  const missing = ids.find((id) => current.get(id)?.dataset_id !== datasetId);
  if (missing !== undefined) throw new NotFound(`Example ID ${missing} not found.`);
  return current;
}

/** @throws PayloadTooLarge when the examples that are there have more metadata than a change may read */
async function requireReadable(
  pool: ExampleParts['pool'],
  tenantId: string,
  datasetId: string,
  ids: readonly string[],
): Promise<void> {
  if ((await metadataBytes(pool, tenantId, datasetId, ids)) <= MOST_BYTES) return;
  throw new PayloadTooLarge(`The metadata of the examples takes more than ${MOST_BYTES} bytes: name fewer of them.`);
}

function byId(rows: readonly CurrentExample[]): Map<string, CurrentExample> {
  // Of several datasets the one that is asked about comes first.
  return new Map(rows.toReversed().map((row) => [row.id, row]));
}

function isSame(known: CurrentExample, { inputs, outputs, metadata, attachments = [] }: ChangedExample): boolean {
  return (
    known.inputs === md5(inputs) &&
    known.outputs === md5(outputs) &&
    sameMetadata(known.metadata, metadata) &&
    listed(known.attachments) === listed(attachments)
  );
}

function md5(text: string | undefined): string | null {
  return text === undefined ? null : hash('md5', text, 'hex');
}

function listed(attachments: CurrentExample['attachments']): string {
  return JSON.stringify((attachments ?? []).map(({ name, type, sha256 }) => [name, type, sha256]).sort());
}
