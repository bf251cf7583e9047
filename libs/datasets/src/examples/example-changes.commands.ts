import { createHash } from 'node:crypto';
import type { PayloadStore } from '@fairlead/blobs';
import {
  type AggregateCommands,
  type Caller,
  type Changed,
  type Followers,
  inTurn,
  type StoredBytes,
  VersionMismatch,
} from '@fairlead/eventing';
import { Unavailable } from '@fairlead/schema';
import type { Pool } from 'pg';
import { EXPERIMENTS_VIEW } from '@fairlead/runs';
import type { Dataset, DatasetEvent, ExamplesChange, ExamplesEvent } from '../datasets/dataset';
import { changeExamples, type StoredChange } from '../datasets/dataset-write';
import { OnlyUploads } from '../datasets/dataset.errors';
import { type ChangedExample, encodeExamples } from './example-rows';

export interface ExampleParts extends AggregateCommands<Dataset, DatasetEvent> {
  readonly pool: Pool;
  readonly followers: Followers;
  readonly payloads: PayloadStore;
  readonly stored: StoredBytes;
}

export interface RecordedChange {
  readonly asOf: string;
  /** Position in the log from which it can be read. */
  readonly position: bigint;
}

type Decide = (state: Dataset) => Promise<readonly ChangedExample[]>;

const MOST_ATTEMPTS = 20;
/** Time for which a change waits until the tables have the version before it, or its own (ms). */
export const VIEW_MS = 10_000;

/**
 * Records a change of a dataset's examples, all of it or nothing. `decide` sees the tables as they are at the version that
 * the change is recorded upon, and is called again when another change came first; no examples change nothing. Changes of
 * one dataset take turns. A change that an earlier attempt of the request has recorded is not decided again.
 * @throws DatasetNotFound, OnlyUploads, Unavailable
 */
export async function recordChange(
  datasets: ExampleParts,
  caller: Caller,
  datasetId: string,
  type: ExamplesEvent['type'],
  decide: Decide,
  contents: ReadonlyMap<string, Uint8Array> = new Map(),
): Promise<RecordedChange> {
  const { tenantId } = caller;
  return inTurn(datasets, datasetId, async () => {
    const repeated = await datasets.repeated(caller, datasetId);
    if (repeated) return recorded(repeated, type);
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const { state, version, position } = await datasets.find(tenantId, datasetId);
      if (state.externallyManaged) throw new OnlyUploads(datasetId);
      if (!(await datasets.followers.shown(position, EXPERIMENTS_VIEW, VIEW_MS))) throw new Unavailable(1);
      const examples = await decide(state);
      if (examples.length === 0) return { asOf: state.newest ?? state.createdAt, position };
      const stored = await storeChange(datasets, tenantId, datasetId, examples, contents);
      try {
        const decision = changeExamples(type, stored, new Date());
        return recorded(await datasets.run(caller, datasetId, decision, version), type);
      } catch (error) {
        if (!(error instanceof VersionMismatch)) throw error;
      }
    }
    throw new Unavailable(1);
  });
}

function recorded({ state, events, position }: Changed<Dataset, DatasetEvent>, type: string): RecordedChange {
  const written = events.find((event) => event.type === type);
  return { asOf: (written?.data as ExamplesChange | undefined)?.as_of ?? state.createdAt, position };
}

/**
 * Keeps the rows of a change, and what is attached to them, for as long as the dataset is there. What only ends examples
 * is kept however much the workspace stores. @throws QuotaReached before anything is written
 */
export async function storeChange(
  { payloads, stored }: ExampleParts,
  tenantId: string,
  datasetId: string,
  examples: readonly ChangedExample[],
  contents: ReadonlyMap<string, Uint8Array> = new Map(),
): Promise<StoredChange> {
  const bytes = encodeExamples(examples);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const attached = examples.flatMap(({ attachments = [] }) => attachments.map((attachment) => attachment.sha256));
  let size = bytes.length;
  for (const content of contents.values()) size += content.length;
  const keep = async () => {
    // What a run has attached may be on its way out: it is needed before it is looked at again.
    await payloads.needForDataset(tenantId, datasetId, [sha256, ...attached]);
    for (const [key, content] of contents) await payloads.keep(tenantId, key, content);
    await payloads.keep(tenantId, sha256, bytes);
  };
  if (examples.every(({ deleted }) => deleted)) await keep();
  else await stored.within(tenantId, size, keep);
  return { payload: { sha256, bytes: bytes.length }, count: examples.length };
}
