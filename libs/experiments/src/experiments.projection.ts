import { idOf, type Projection, type Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import { EXPERIMENTS_VIEW } from './common/experiments-view';
import type {
  DatasetBaselineChanged,
  DatasetCreated,
  DatasetEvent,
  ExperimentAdded,
  ScoreDirectionsChanged,
} from './datasets/dataset';
import { applyDatasetChanged, requireOwnDataset } from './datasets/datasets.projection';
import { applyDatasetDeleted, applySessionDeleted, applyTenantRemoved } from './sessions/deletions.projection';
import { applyDatasetTagged, applyExamples } from './examples/examples.projection';
import type {
  ExperimentEvent,
  ExperimentFilled,
  ExperimentUploaded,
  FeedbackAwaited,
  RunsPersisted,
  RunsReceived,
  SessionCreated,
} from './sessions/experiment';
import type { FeedbackConfigEvent } from './feedback/feedback-config';
import { applyFeedbackChange } from './feedback/feedback-changes.projection';
import { applyFeedbackConfig } from './feedback/feedback-configs.projection';
import {
  applyFeedbackAdded,
  applyFeedbackAwaited,
  refreshFeedbackStats,
  settleFeedback,
} from './feedback/feedback.projection';
import { applyRunsReceived, refreshRunStats } from './runs/live/live-runs.projection';
import type { ShareEvent } from './sharing/share';
import { applyShare } from './sharing/shares.projection';
import { applySessionPatched } from './sessions/sessions.projection';
import { extraOf } from './upload/upload-answer';

type Event = Recorded<DatasetEvent | ExperimentEvent | FeedbackConfigEvent | ShareEvent>;
type Handled = Event | Recorded<FeedbackAwaited>;

/** Keeps the tables `datasets` and `sessions`, and everything below them that events change one by one. */
export const experimentsView: Projection = {
  name: EXPERIMENTS_VIEW,
  categories: ['dataset', 'experiment', 'awaitedFeedback', 'feedbackConfig', 'share', 'shareLink', 'tenant'],
  async handle(events, tx) {
    const fedBack = new Set<string>();
    const running = new Set<string>();
    const stored = new Set<string>();
    for (const event of events as Handled[]) {
      if (event.stream.startsWith('tenant-')) {
        if ((event as Recorded).type === 'TenantRemoved') await applyTenantRemoved(event, tx);
        continue;
      }
      if (event.type === 'FeedbackAwaited') {
        const session = await applyFeedbackAwaited(event, tx);
        if (session) fedBack.add(session);
        continue;
      }
      if (event.type === 'RunsReceived') {
        for (const session of await applyRunsReceived(event, tx)) running.add(session);
        continue;
      }
      await apply(event, tx);
      if (event.type === 'RunsPersisted') stored.add(idOf(event.stream));
      if (FEEDBACK.has(event.type) || wasFedBackMeanwhile(event)) fedBack.add(idOf(event.stream));
    }
    for (const session of new Set([...stored, ...running])) if (await settleFeedback(tx, session)) fedBack.add(session);
    for (const session of running) await refreshRunStats(tx, session);
    for (const session of fedBack) await refreshFeedbackStats(tx, session);
  },
};

/** Events that change the statistics of feedback. */
const FEEDBACK: ReadonlySet<string> = new Set(['FeedbackAdded', 'FeedbackChanged', 'FeedbackDeleted']);

/** True when something came between an upload and the statistics of its rows, which then may not know it. */
function wasFedBackMeanwhile({ type, version }: Event): boolean {
  return type === 'RunsPersisted' && version > 2;
}

async function apply(event: Exclude<Event, Recorded<RunsReceived>>, tx: PoolClient): Promise<void> {
  switch (event.type) {
    case 'DatasetCreated':
      return applyDatasetCreated(event, tx);
    case 'DatasetChanged':
      return applyDatasetChanged(event, tx);
    case 'ExamplesAdded':
    case 'ExamplesChanged':
    case 'ExamplesDeleted':
    case 'SplitsChanged':
      return applyExamples(event, tx);
    case 'DatasetTagged':
      return applyDatasetTagged(event, tx);
    case 'ExperimentAdded':
      return applyExperimentAdded(event, tx);
    case 'ScoreDirectionsChanged':
      return applyScoreDirectionsChanged(event, tx);
    case 'DatasetBaselineChanged':
      return applyDatasetBaselineChanged(event, tx);
    case 'DatasetDeleted':
      return applyDatasetDeleted(event, tx);
    case 'ExperimentUploaded':
      return applyExperimentUploaded(event, tx);
    case 'ExperimentFilled':
      return applyExperimentFilled(event, tx);
    case 'SessionCreated':
      return applySessionCreated(event, tx);
    case 'SessionPatched':
      return applySessionPatched(event, tx);
    case 'RunsPersisted':
      return applyRunsPersisted(event, tx);
    case 'FeedbackAdded':
      return applyFeedbackAdded(event, tx);
    case 'FeedbackChanged':
    case 'FeedbackDeleted':
      return applyFeedbackChange(event, tx);
    case 'FeedbackConfigChanged':
    case 'FeedbackConfigDeleted':
      return applyFeedbackConfig(event, tx);
    case 'RunShared':
    case 'DatasetShared':
    case 'RunUnshared':
    case 'DatasetUnshared':
    case 'ShareLinkCreated':
    case 'ShareLinkDeleted':
      return applyShare(event, tx);
    case 'SessionDeleted':
      await applySessionDeleted(event, tx);
      await tx.query('delete from persisted_experiments where session_id = $1', [idOf(event.stream)]);
  }
}

async function applyDatasetCreated(event: Recorded<DatasetCreated>, tx: PoolClient): Promise<void> {
  const { name, description, data_type: dataType, externally_managed: externallyManaged } = event.data;
  await tx.query(
    `insert into datasets (id, tenant_id, name, description, created_at, modified_at, externally_managed, data_type, version,
       metadata, inputs_schema, outputs_schema)
     values ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9, $10, $11) on conflict (id) do nothing`,
    [
      idOf(event.stream),
      event.metadata.tenant,
      name,
      description,
      event.time,
      externallyManaged,
      dataType,
      event.version,
      event.data.metadata,
      event.data.inputs_schema,
      event.data.outputs_schema,
    ],
  );
}

async function applyExperimentAdded(event: Recorded<ExperimentAdded>, tx: PoolClient): Promise<void> {
  const modified = event.data.live ? null : event.time;
  await tx.query('update datasets set modified_at = coalesce($2, modified_at), version = $3 where id = $1', [
    idOf(event.stream),
    modified,
    event.version,
  ]);
}

async function applyScoreDirectionsChanged(event: Recorded<ScoreDirectionsChanged>, tx: PoolClient): Promise<void> {
  await tx.query('update datasets set modified_at = $2, version = $3, score_directions = $4 where id = $1', [
    idOf(event.stream),
    event.time,
    event.version,
    JSON.stringify(event.data),
  ]);
}

async function applyDatasetBaselineChanged(event: Recorded<DatasetBaselineChanged>, tx: PoolClient): Promise<void> {
  await tx.query('update datasets set modified_at = $2, version = $3, baseline_experiment_id = $4 where id = $1', [
    idOf(event.stream),
    event.time,
    event.version,
    event.data.experiment_id,
  ]);
}

async function applyExperimentUploaded(event: Recorded<ExperimentUploaded>, tx: PoolClient): Promise<void> {
  const { data } = event;
  await requireOwnDataset(event, data.dataset.id, tx);
  await tx.query(
    `insert into sessions (id, tenant_id, name, description, start_time, end_time, extra, metadata, reference_dataset_id,
       trace_tier, test_run_number, created_at, payload_sha256, version)
     values ($1, $2, $3, $4, $5, $6, $7, searchable_json($8), $9, 'longlived', $10, $11, $12, $13)
     on conflict (id) do nothing`,
    [
      idOf(event.stream),
      event.metadata.tenant,
      data.name,
      data.description,
      data.start_time,
      data.end_time,
      extraOf(data.metadata),
      data.metadata,
      data.dataset.id,
      data.test_run_number,
      event.time,
      data.payload.sha256,
      event.version,
    ],
  );
  await countSessions(data.dataset.id, tx);
}

/** Its statistics are unknown until the runs of the fill are stored, and its times hold those of the fill. */
async function applyExperimentFilled(event: Recorded<ExperimentFilled>, tx: PoolClient): Promise<void> {
  const { start_time: start, end_time: end, dataset } = event.data;
  await tx.query(
    `update sessions set persisted = false, start_time = least(start_time, $2), end_time = greatest(end_time, $3), version = $4
     where id = $1`,
    [idOf(event.stream), start, end, event.version],
  );
  await countSessions(dataset.id, tx);
}

async function applySessionCreated(event: Recorded<SessionCreated>, tx: PoolClient): Promise<void> {
  const { data } = event;
  if (data.reference_dataset_id) await requireOwnDataset(event, data.reference_dataset_id, tx);
  await tx.query(
    `insert into sessions (id, tenant_id, name, description, start_time, end_time, extra, metadata, reference_dataset_id,
       default_dataset_id, trace_tier, created_at, persisted, run_count, version, test_run_number)
     values ($1, $2, $3, $4, $5, $6, $7, searchable_json($7) -> 'metadata', $8, $9, $10, $11, true, 0, $12, $13)
     on conflict (id) do nothing`,
    [
      idOf(event.stream),
      event.metadata.tenant,
      data.name,
      data.description,
      data.start_time,
      data.end_time,
      data.extra,
      data.reference_dataset_id,
      data.default_dataset_id,
      data.trace_tier,
      event.time,
      event.version,
      data.test_run_number ?? null,
    ],
  );
  if (data.reference_dataset_id) await countSessions(data.reference_dataset_id, tx);
}

async function applyRunsPersisted(event: Recorded<RunsPersisted>, tx: PoolClient): Promise<void> {
  const { data } = event;
  const id = idOf(event.stream);
  const { rows } = await tx.query<{ dataset: string }>(
    `update sessions set persisted = true, run_count = $2, latency_p50 = $3, latency_p99 = $4, error_rate = $5,
       last_run_start_time = $6, feedback_stats = $7, session_feedback_stats = $8, version = $9
     where id = $1 returning reference_dataset_id as dataset`,
    [
      id,
      data.run_count,
      data.latency_p50,
      data.latency_p99,
      data.error_rate,
      data.last_run_start_time,
      data.feedback_stats ?? '{}',
      data.session_feedback_stats ?? '{}',
      event.version,
    ],
  );
  if (!rows[0]) return;
  if (data.feedback_stats === undefined) await refreshFeedbackStats(tx, id);
  await tx.query(
    `update datasets d set example_count = $2 from sessions s
     where d.id = $1 and s.id = $3 and s.tenant_id = d.tenant_id`,
    [rows[0].dataset, data.example_count, id],
  );
}

async function countSessions(dataset: string, tx: PoolClient): Promise<void> {
  await tx.query(
    `update datasets set (session_count, last_session_start_time) =
       (select count(*), max(start_time) from sessions where reference_dataset_id = $1 and tenant_id = datasets.tenant_id)
     where id = $1`,
    [dataset],
  );
}
