import {
  EventStore,
  handle,
  idOf,
  Inapplicable,
  load,
  MAX_APPEND_BYTES,
  type Projection,
  type Recorded,
} from '@fairlead/eventing';
import { transaction } from '@fairlead/postgres';
import { Injectable } from '@nestjs/common';
import { Pool, type PoolClient } from 'pg';
import { datasetModel, datasetStream, isThere } from '../datasets/dataset';
import { experimentModel, type ExperimentUploaded, persist, type RunStatistics } from '../sessions/experiment';
import { sessionFeedbackStatistics } from '../feedback/feedback-statistics.queries';
import { refreshFeedbackStats, settleFeedback } from '../feedback/feedback.projection';
import { tellUploadedFeedback } from '../feedback/uploaded-feedback.commands';
import { JsonScanner } from '../upload/json-scanner';
import { PayloadStore } from './payload.store';
import { applyFeedbackChanges } from '../feedback/feedback-changes.projection';
import { type PreparedRows, RunWriter } from './persist.runs';
import { inRing } from '../upload/upload-blocks';
import { analyseFilled } from './planner.queries';
import { requireOwnDataset } from '../datasets/datasets.projection';

/** Blocks of a body, 256 KiB each, whose rows are stored at once. */
const BATCH_BLOCKS = 4;
/** Within an event they are JSON in JSON, which can double their size. */
const MOST_STATISTICS_BYTES = MAX_APPEND_BYTES / 3;
/** Limits for a body that has been checked: none. */
const UNLIMITED = { valueBytes: Infinity, depth: Infinity };

/** Stores the runs of each upload after the other, then records `RunsPersisted` with their statistics. */
@Injectable()
export class PersistRuns implements Projection {
  readonly name = 'persist-runs';
  readonly categories = ['experiment'];
  /** Database connections held at once while a body is read: batch, runs, examples. */
  readonly holds = 3;

  constructor(
    private readonly store: EventStore,
    private readonly pool: Pool,
    private readonly payloads: PayloadStore,
  ) {}

  readonly handle = async (events: Recorded[], tx: PoolClient): Promise<void> => {
    const uploads = events.filter((event) => event.type === 'ExperimentUploaded') as Recorded<ExperimentUploaded>[];
    if (uploads.length === 0) return;
    // The rows are stored in transactions of their own; this one only moves the checkpoint, however long they take.
    await tx.query('set local idle_in_transaction_session_timeout = 0');
    for (const upload of uploads) await this.persist(upload);
  };

  private async persist(event: Recorded<ExperimentUploaded>): Promise<void> {
    const { state } = await load(this.store, experimentModel, event.stream);
    if (!state || state.removed) return;
    const statistics = (await this.persisted(event)) ?? (await this.storeRows(event));
    // Before it is recorded that the runs are there, so that it is not left out when the process ends in between.
    if (!state.persisted) await tellUploadedFeedback(this.store, this.pool, event);
    const { tenant, traceparent } = event.metadata;
    const metadata = { tenant, traceparent, actor: 'system:persist-runs' };
    const after = await handle(this.store, experimentModel, event.stream, persist(statistics), metadata);
    // Stored anew, under statistics that were recorded long ago: feedback given since counts as well.
    if (after.events.length === 0) {
      await transaction(this.pool, async (tx) => {
        await settleFeedback(tx, idOf(event.stream));
        await applyFeedbackChanges(tx, idOf(event.stream));
        await refreshFeedbackStats(tx, idOf(event.stream));
      });
    }
    if (after.state?.removed) await this.forget(idOf(event.stream), event.data.dataset.id);
  }

  /** Takes back rows of a session that was deleted while they were being stored. */
  private async forget(session: string, datasetId: string): Promise<void> {
    for (const table of ['feedback', 'runs', 'persisted_experiments']) {
      await this.pool.query(`delete from ${table} where session_id = $1`, [session]);
    }
    const dataset = await load(this.store, datasetModel, datasetStream(datasetId));
    if (!isThere(dataset.state)) await this.pool.query('delete from examples where dataset_id = $1', [datasetId]);
  }

  /** The statistics of an upload whose rows are stored already. */
  private async persisted(event: Recorded<ExperimentUploaded>): Promise<RunStatistics | undefined> {
    const { rows } = await this.pool.query<{ statistics: string }>(
      'select statistics from persisted_experiments where session_id = $1',
      [idOf(event.stream)],
    );
    return rows[0] && (JSON.parse(rows[0].statistics) as RunStatistics);
  }

  private async storeRows(event: Recorded<ExperimentUploaded>): Promise<RunStatistics> {
    const tenant = event.metadata.tenant!;
    const payload = await this.payloads.read(tenant, event.data.payload.sha256);
    if (!payload) throw new Inapplicable(`The body of ${event.stream} is missing: its runs cannot be stored.`);
    const { data } = event;
    await requireOwnDataset(event, data.dataset.id, this.pool);
    const experiment = idOf(event.stream);
    const { name, id_seed: idSeed = experiment } = data;
    const facts = { experiment, tenant, dataset: data.dataset.id, name, idSeed, time: event.time };
    // Examples are committed first: found again after a crash, they are taken for what they are.
    const statistics = await transaction(this.pool, async (runs) => {
      await runs.query('set local statement_timeout = 0');
      await runs.query('set local idle_in_transaction_session_timeout = 0');
      await transaction(this.pool, (examples) => write(payload, new RunWriter(examples, runs, facts)));
      const statistics = await computeStatistics(runs, experiment, data.dataset.id);
      await runs.query('insert into persisted_experiments (session_id, statistics) values ($1, $2)', [
        experiment,
        JSON.stringify(statistics),
      ]);
      return statistics;
    });
    await analyseFilled(this.pool, data.row_count);
    return statistics;
  }
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

async function computeStatistics(client: PoolClient, session: string, dataset: string): Promise<RunStatistics> {
  const { rows } = await client.query<Omit<RunStatistics, 'feedback_stats' | 'session_feedback_stats'>>(
    `select count(*)::int as run_count,
       percentile_cont(0.5) within group (order by extract(epoch from end_time - start_time)::float8) as latency_p50,
       percentile_cont(0.99) within group (order by extract(epoch from end_time - start_time)::float8) as latency_p99,
       avg((status = 'error')::int)::float8 as error_rate,
       to_char(max(start_time) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') as last_run_start_time,
       (select count(*)::int from examples where dataset_id = $2 and valid_to is null) as example_count
     from runs where session_id = $1`,
    [session, dataset],
  );
  const feedback = await sessionFeedbackStatistics(client, session);
  const fits = Buffer.byteLength(feedback.runs) + Buffer.byteLength(feedback.session) < MOST_STATISTICS_BYTES;
  return { ...rows[0]!, ...(fits && { feedback_stats: feedback.runs, session_feedback_stats: feedback.session }) };
}
