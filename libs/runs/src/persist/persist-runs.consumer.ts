import { inRing, PayloadStore } from '@fairlead/blobs';
import { EventStore, handle, idOf, Inapplicable, load, type Projection, type Recorded } from '@fairlead/eventing';
import { transaction } from '@fairlead/postgres';
import { Injectable, Logger } from '@nestjs/common';
import { Pool, type PoolClient } from 'pg';
import {
  type ExperimentFilled,
  experimentModel,
  type ExperimentUploaded,
  isPending,
  persist,
  type RunStatistics,
  sessionStream,
} from '../session/experiment';
import { refreshFeedbackStats, setAsideFeedback, settleFeedback } from '../feedback/feedback.projection';
import { tellUploadedFeedback } from '../feedback/uploaded-feedback.commands';
import { JsonScanner } from '../bodies/json-scanner';
import { applyFeedbackChanges } from '../feedback/feedback-changes.projection';
import { findUnstoredFills, replaceRuns } from './persist-fill.queries';
import { type PreparedRows, RunWriter, type UploadFacts } from './run-writer.store';
import { readRow } from '../bodies/stored-row';
import { analyseFilled } from './planner.queries';
import { requireOwnDataset } from '../session/own-dataset.queries';
import { deleteRows } from '../session/session-rows.queries';
import { NamedDatasets } from './named-datasets';
import { computeStatistics, refreshUsage } from './upload-statistics.queries';

/** Blocks of a body, 256 KiB each, whose rows are stored at once. */
const BATCH_BLOCKS = 4;
/** Limits for a body that has been checked: none. */
const UNLIMITED = { valueBytes: Infinity, depth: Infinity };

/** SQL: the note on the session `$1` of the workspace `$2`. Notes of before have no workspace until they are filled. */
const NOTE = 'session_id = $1 and (tenant_id = $2 or tenant_id is null)';

type Upload = Recorded<ExperimentUploaded | ExperimentFilled>;

/** Stores the runs of each upload and fill after the other, then records `RunsPersisted` with their statistics. */
@Injectable()
export class PersistRuns implements Projection {
  readonly name = 'persist-runs';
  readonly categories = ['experiment'];
  /** Database connections held at once while a body is read: batch, runs, examples. */
  readonly holds = 3;

  private readonly logger = new Logger('PersistRuns');
  private hasCaughtUp = false;

  constructor(
    private readonly store: EventStore,
    private readonly pool: Pool,
    private readonly payloads: PayloadStore,
    private readonly datasets: NamedDatasets,
  ) {}

  readonly handle = async (events: Recorded[], tx: PoolClient): Promise<void> => {
    const uploads = events.filter(
      ({ type }) => type === 'ExperimentUploaded' || type === 'ExperimentFilled',
    ) as Upload[];
    if (uploads.length === 0 && this.hasCaughtUp) return;
    // The rows are stored in transactions of their own; this one only moves the checkpoint, however long they take.
    await tx.query('set local idle_in_transaction_session_timeout = 0');
    if (!this.hasCaughtUp) await this.catchUp(events[0]!.position);
    for (const upload of uploads) await this.persist(upload);
  };

  /** Stores fills that a process of a version without fills has passed by, while both ran. */
  private async catchUp(before: bigint): Promise<void> {
    for (const id of await findUnstoredFills(this.pool)) {
      const stream = sessionStream(id);
      const { state } = await load(this.store, experimentModel, stream);
      if (!state?.fills || !isPending(state, state.fills.length)) continue;
      const last = (await this.store.read(stream)).findLast(({ type }) => type === 'ExperimentFilled') as Upload;
      if (last.position >= before) continue;
      // Others are not held up by one that cannot be stored; the next process tries it again.
      await this.persist(last).catch((error: unknown) =>
        this.logger.error(`The fill of ${stream} was not stored: ${String(error)}`),
      );
    }
    this.hasCaughtUp = true;
  }

  private async persist(event: Upload): Promise<void> {
    const { state } = await load(this.store, experimentModel, event.stream);
    if (!state) return;
    // A process may have ended between storing rows and taking them back.
    if (state.removed) return this.forget(event);
    const number = numberOf(event);
    const statistics = (await this.persisted(event)) ?? (await this.storeRows(event, state.name));
    // Before it is recorded that the runs are there, so that it is not left out when the process ends in between.
    if (isPending(state, number)) await tellUploadedFeedback(this.store, this.pool, event);
    const { tenant, traceparent } = event.metadata;
    const metadata = { tenant, traceparent, actor: 'system:persist-runs' };
    const after = await handle(this.store, experimentModel, event.stream, persist(statistics, number), metadata);
    // Stored anew, under statistics that were recorded long ago: feedback given since counts as well, and usage, of which
    // earlier versions recorded nothing.
    if (after.events.length === 0) {
      await transaction(this.pool, async (tx) => {
        await settleFeedback(tx, tenant!, idOf(event.stream));
        await applyFeedbackChanges(tx, tenant!, idOf(event.stream));
        await refreshFeedbackStats(tx, tenant!, idOf(event.stream));
        await refreshUsage(tx, tenant!, idOf(event.stream));
      });
    }
    if (after.state?.removed) await this.forget(event);
  }

  /** Takes back rows of a session that was deleted while they were being stored. */
  private async forget({ stream, data, metadata }: Upload): Promise<void> {
    const [session, tenant, datasetId] = [idOf(stream), metadata.tenant!, data.dataset.id];
    await deleteRows(this.pool, tenant, session);
    await this.pool.query(`delete from persisted_experiments where ${NOTE}`, [session, tenant]);
    if (await this.datasets.isThere(datasetId)) return;
    await this.pool.query('delete from examples where dataset_id = $1 and tenant_id = $2', [datasetId, tenant]);
  }

  /** The statistics of an upload, or of a later one, whose rows are stored already. */
  private async persisted(event: Upload): Promise<RunStatistics | undefined> {
    const { rows } = await this.pool.query<{ statistics: string }>(
      `select statistics from persisted_experiments where ${NOTE} and fills >= $3`,
      [idOf(event.stream), event.metadata.tenant, numberOf(event)],
    );
    return rows[0] && (JSON.parse(rows[0].statistics) as RunStatistics);
  }

  /** `name` is what runs without a name of their own are called in a fill. */
  private async storeRows(event: Upload, name: string): Promise<RunStatistics> {
    const tenant = event.metadata.tenant!;
    const { data } = event;
    const open = async () => {
      const payload = await this.payloads.read(tenant, data.payload.sha256);
      if (!payload) throw new Inapplicable(`The body of ${event.stream} is missing: its runs cannot be stored.`);
      return payload;
    };
    const payload = await open();
    await requireOwnDataset(event, data.dataset.id, this.pool);
    const experiment = idOf(event.stream);
    const facts: UploadFacts = {
      experiment,
      tenant,
      dataset: data.dataset.id,
      name: 'name' in data ? data.name : name,
      idSeed: data.id_seed ?? experiment,
      time: event.time,
    };
    const statistics = await transaction(this.pool, async (runs) => {
      await runs.query('set local statement_timeout = 0');
      await runs.query('set local idle_in_transaction_session_timeout = 0');
      if (event.type === 'ExperimentUploaded') {
        // Examples are committed first: found again after a crash, they are taken for what they are.
        await transaction(this.pool, (examples) => write(payload, new RunWriter(examples, runs, facts)));
      } else {
        const places = await replaceRuns(runs, facts, await rowIds(payload));
        await write(await open(), new RunWriter(runs, runs, { ...facts, places }));
        await setAsideFeedback(runs, tenant, experiment);
      }
      const statistics = await computeStatistics(runs, facts);
      await runs.query(
        `with known as (
           update persisted_experiments set statistics = $3, fills = $4, tenant_id = $2 where ${NOTE} returning session_id)
         insert into persisted_experiments (session_id, tenant_id, statistics, fills)
         select $1::uuid, $2::uuid, $3, $4 where not exists (select from known)`,
        [experiment, tenant, JSON.stringify(statistics), numberOf(event)],
      );
      return statistics;
    });
    await analyseFilled(this.pool, data.row_count);
    return statistics;
  }
}

/** Which fill of the experiment it is, from 1; 0 for the upload. */
function numberOf({ data }: Upload): number {
  return 'number' in data ? data.number : 0;
}

async function rowIds(payload: AsyncIterable<Buffer>): Promise<string[]> {
  const ids: string[] = [];
  const scanner = new JsonScanner(new Set(['results', 'summary_experiment_scores']), UNLIMITED, {
    element: (key, value) => (key === 'results' ? ids.push(readRow(value).id) : undefined),
    array: () => undefined,
    member: () => undefined,
    root: () => undefined,
  });
  for await (const block of inRing(payload, 2, (size) => Buffer.allocUnsafeSlow(size))) scanner.push(block);
  scanner.end();
  return ids;
}

/**
 * Reads a body again and hands its rows on in batches; one batch is stored while the next one is read. Rows share the
 * memory of the two batches, which is used again for the next but one.
 */
async function write(payload: AsyncIterable<Buffer>, writer: RunWriter): Promise<void> {
  let rows: Buffer[] = [];
  let summary: Buffer[] = [];
  let blocks = 0;
  let storing: Promise<void> = Promise.resolve();
  const scanner = new JsonScanner(new Set(['results', 'summary_experiment_scores']), UNLIMITED, {
    element(key, value) {
      (key === 'results' ? rows : summary).push(value);
    },
    array: () => undefined,
    member: () => undefined,
    root: () => undefined,
  });
  const flush = async () => {
    const next = writer.prepare(rows);
    const about = summary;
    [rows, summary] = [[], []];
    await storing;
    storing = store(writer, next, about);
    // Thrown by the next flush.
    storing.catch(() => undefined);
  };
  // Shared memory would be slower to copy from.
  for await (const block of inRing(payload, 2 * BATCH_BLOCKS, (size) => Buffer.allocUnsafeSlow(size))) {
    scanner.push(block);
    if (++blocks % BATCH_BLOCKS === 0) await flush();
  }
  scanner.end();
  await flush();
  await storing;
  await writer.finish();
}

async function store(writer: RunWriter, rows: PreparedRows, summary: readonly Buffer[]): Promise<void> {
  if (rows.rows.length > 0) await writer.store(rows);
  if (summary.length > 0) await writer.storeSummary(summary);
}
