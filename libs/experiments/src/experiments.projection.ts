import { categoryOf, idOf, type Projection, type Recorded } from '@fairlead/eventing';
import { LOCKS } from '@fairlead/postgres';
import type { PoolClient } from 'pg';
import {
  applyFeedbackAdded,
  applyFeedbackAwaited,
  applyFeedbackChange,
  applyFeedbackConfig,
  applyRunsReceived,
  applySessionDeleted,
  applyTenantRemoved,
  type ExperimentEvent,
  type ExperimentFilled,
  EXPERIMENTS_VIEW,
  type ExperimentUploaded,
  type Expressions,
  type FeedbackAdded,
  type FeedbackAwaited,
  type FeedbackConfigEvent,
  insertRow,
  refreshFeedbackStats,
  refreshRunStats,
  requireOwnDataset,
  type Row,
  type RunsPersisted,
  type RunsReceived,
  type SessionChanges,
  type SessionCreated,
  settleFeedback,
  TraceCounts,
  updateRow,
  USAGE_MEMBERS,
  workspaceOf,
} from '@fairlead/runs';
import {
  applyDatasetDeleted,
  applyDatasetTagged,
  applyExamples,
  type DatasetChanges,
  type DatasetCreated,
  type DatasetEvent,
} from '@fairlead/datasets';
import { extraOf } from './upload/upload-answer';

type Event = Recorded<DatasetEvent | ExperimentEvent | FeedbackConfigEvent>;
type Handled = Event | Recorded<FeedbackAwaited>;
/** Workspaces by the sessions that belong to them. */
type Sessions = Map<string, string | null>;

/** Applies one event to the rows of a library above this one, which belong to the same view. */
export type Handler = (event: Recorded, tx: PoolClient) => Promise<void>;

/** Returns the projection of the view. `above`: handlers of a library above this one, by category of the stream. */
export const experimentsView = (above: ReadonlyMap<string, Handler> = new Map()): Projection => ({
  name: EXPERIMENTS_VIEW,
  categories: ['dataset', 'experiment', 'awaitedFeedback', 'feedbackConfig', ...above.keys(), 'tenant'],
  async handle(events, tx) {
    await lockAwaited(events, tx);
    const fedBack: Sessions = new Map();
    const running: Sessions = new Map();
    const stored: Sessions = new Map();
    const counts = new TraceCounts();
    const given: Recorded<FeedbackAdded>[] = [];
    const storeGiven = () => applyFeedbackAdded(given.splice(0), tx);
    for (const event of events as Handled[]) {
      if (event.type === 'FeedbackAdded') {
        given.push(event);
        fedBack.set(idOf(event.stream), await workspaceOf(tx, event, 'sessions'));
        continue;
      }
      if (event.type === 'RunsReceived' && event.data.batch) continue;
      await storeGiven();
      if (event.stream.startsWith('tenant-')) {
        if ((event as Recorded).type === 'TenantRemoved') await applyTenantRemoved(event, tx);
        continue;
      }
      const handler = above.get(categoryOf(event.stream));
      if (handler) {
        await handler(event, tx);
        continue;
      }
      if (event.type === 'FeedbackAwaited') {
        const session = await applyFeedbackAwaited(event, tx);
        if (session) fedBack.set(session, event.metadata.tenant!);
        continue;
      }
      if (event.type === 'RunsReceived') {
        const tenant = await workspaceOf(tx, event, 'sessions');
        for (const session of await applyRunsReceived(event, tenant, tx, counts)) running.set(session, tenant);
        continue;
      }
      await apply(event, tx);
      const session = idOf(event.stream);
      const isFedBack = FEEDBACK.has(event.type) || wasFedBackMeanwhile(event);
      if (event.type !== 'RunsPersisted' && !isFedBack) continue;
      const tenant = await workspaceOf(tx, event, 'sessions');
      if (event.type === 'RunsPersisted') stored.set(session, tenant);
      if (isFedBack) fedBack.set(session, tenant);
    }
    await storeGiven();
    for (const [session, tenant] of new Map([...stored, ...running]))
      if (await settleFeedback(tx, tenant, session)) fedBack.set(session, tenant);
    for (const [session, tenant] of running) await refreshRunStats(tx, tenant, session, counts);
    for (const [session, tenant] of fedBack) await refreshFeedbackStats(tx, tenant, session);
  },
});

/**
 * Locks out the follower that stores runs, in the workspaces whose feedback begins to wait for a run. Without the lock,
 * both transactions could miss what the other one adds, and the feedback would wait for ever. The locks are taken before any row is changed, and in one order, so that no two transactions wait for each other.
 */
async function lockAwaited(events: readonly Recorded[], tx: PoolClient): Promise<void> {
  const awaited = events.filter(({ type }) => type === 'FeedbackAwaited');
  const workspaces = new Set(awaited.flatMap(({ metadata }) => metadata.tenant ?? []));
  for (const workspace of [...workspaces].sort())
    await tx.query('select pg_advisory_xact_lock($1, hashtext($2))', [LOCKS.awaitedFeedback, workspace]);
}

const FEEDBACK: ReadonlySet<string> = new Set(['FeedbackChanged', 'FeedbackDeleted']);

function wasFedBackMeanwhile({ type, version }: Event): boolean {
  return type === 'RunsPersisted' && version > 2;
}

async function apply(event: Exclude<Event, Recorded<RunsReceived | FeedbackAdded>>, tx: PoolClient): Promise<void> {
  const update = (table: 'datasets' | 'sessions', changes: Row, expressions?: Expressions) =>
    updateRow(tx, table, event, changes, expressions).then(() => undefined);
  switch (event.type) {
    case 'DatasetCreated':
      return applyDatasetCreated(event, tx);
    case 'DatasetChanged':
      return update('datasets', { modified_at: event.time, ...datasetChanges(event.data) });
    case 'ExamplesAdded':
    case 'ExamplesChanged':
    case 'ExamplesDeleted':
    case 'SplitsChanged':
      return applyExamples(event, tx);
    case 'DatasetTagged':
      return applyDatasetTagged(event, tx);
    case 'ExperimentAdded':
      return update('datasets', { modified_at: event.data.live ? undefined : event.time });
    case 'ScoreDirectionsChanged':
      return update('datasets', { modified_at: event.time, score_directions: JSON.stringify(event.data) });
    case 'DatasetBaselineChanged':
      return update('datasets', { modified_at: event.time, baseline_experiment_id: event.data.experiment_id });
    case 'DatasetDeleted':
      return applyDatasetDeleted(event, tx);
    case 'ExperimentUploaded':
      return applyExperimentUploaded(event, tx);
    case 'ExperimentFilled':
      return applyExperimentFilled(event, tx);
    case 'SessionCreated':
      return applySessionCreated(event, tx);
    case 'SessionPatched':
      return update('sessions', sessionChanges(event.data), { metadata: metadataIn });
    case 'RunsPersisted':
      return applyRunsPersisted(event, tx);
    case 'FeedbackChanged':
    case 'FeedbackDeleted':
      return applyFeedbackChange(event, tx);
    case 'FeedbackConfigChanged':
    case 'FeedbackConfigDeleted':
      return applyFeedbackConfig(event, tx);
    case 'SessionDeleted':
      await applySessionDeleted(event, tx);
  }
}

async function applyDatasetCreated(event: Recorded<DatasetCreated>, tx: PoolClient): Promise<void> {
  const { time: created_at, version, data } = event;
  const { name, description, data_type, externally_managed, metadata, inputs_schema, outputs_schema } = data;
  await insertRow(tx, 'datasets', {
    ...{ id: idOf(event.stream), tenant_id: event.metadata.tenant, name, description, data_type, externally_managed },
    ...{ created_at, modified_at: created_at, version, metadata, inputs_schema, outputs_schema },
  });
}

async function applyExperimentUploaded(event: Recorded<ExperimentUploaded>, tx: PoolClient): Promise<void> {
  const { name, description, start_time, end_time, metadata, dataset, test_run_number, payload } = event.data;
  await requireOwnDataset(event, dataset.id, tx);
  const row = {
    ...{ id: idOf(event.stream), tenant_id: event.metadata.tenant, name, description, start_time, end_time },
    ...{ extra: extraOf(metadata), metadata, reference_dataset_id: dataset.id, trace_tier: 'longlived' },
    ...{ test_run_number, created_at: event.time, payload_sha256: payload.sha256, version: event.version },
  };
  await insertRow(tx, 'sessions', row, { metadata: (text) => `searchable_json(${text})` });
  await countSessions(event, dataset.id, tx);
}

/** Its statistics are unknown until the runs of the fill are stored, and its times hold those of the fill. */
async function applyExperimentFilled(event: Recorded<ExperimentFilled>, tx: PoolClient): Promise<void> {
  const { start_time, end_time, dataset } = event.data;
  const changes = { persisted: false, start_time, end_time };
  await updateRow(tx, 'sessions', event, changes, {
    start_time: (start) => `least(start_time, ${start})`,
    end_time: (end) => `greatest(end_time, ${end})`,
  });
  await countSessions(event, dataset.id, tx);
}

async function applySessionCreated(event: Recorded<SessionCreated>, tx: PoolClient): Promise<void> {
  const { name, description, start_time, end_time, extra, reference_dataset_id, default_dataset_id } = event.data;
  if (reference_dataset_id) await requireOwnDataset(event, reference_dataset_id, tx);
  const { trace_tier, test_run_number } = event.data;
  const row = {
    ...{ id: idOf(event.stream), tenant_id: event.metadata.tenant, name, description, start_time, end_time },
    ...{ extra, metadata: extra, reference_dataset_id, default_dataset_id, trace_tier, test_run_number },
    ...{ created_at: event.time, persisted: true, run_count: 0, version: event.version },
  };
  await insertRow(tx, 'sessions', row, { metadata: metadataIn });
  if (reference_dataset_id) await countSessions(event, reference_dataset_id, tx);
}

const metadataIn = (extra: string) => `searchable_json(${extra}::text) -> 'metadata'`;

function datasetChanges({ name, description, metadata, inputs_schema, outputs_schema }: DatasetChanges): Row {
  const definitions = { metadata, inputs_schema, outputs_schema };
  return {
    name,
    description,
    ...Object.fromEntries(Object.entries(definitions).filter(([, given]) => given !== null)),
  };
}

function sessionChanges({ name, description, end_time, default_dataset_id, extra, trace_tier }: SessionChanges): Row {
  return { name, description, end_time, default_dataset_id, extra, metadata: extra, trace_tier };
}

async function applyRunsPersisted(event: Recorded<RunsPersisted>, tx: PoolClient): Promise<void> {
  const { example_count, feedback_stats, session_feedback_stats, ...statistics } = event.data;
  const { run_count, latency_p50, latency_p99, error_rate, last_run_start_time } = statistics;
  const id = idOf(event.stream);
  const changes = {
    ...{ persisted: true, run_count, latency_p50, latency_p99, error_rate, last_run_start_time },
    ...{ feedback_stats: feedback_stats ?? '{}', session_feedback_stats: session_feedback_stats ?? '{}' },
    ...Object.fromEntries(USAGE_MEMBERS.map((name) => [name, statistics[name]])),
  };
  if ((await updateRow(tx, 'sessions', event, changes)) === 0) return;
  const tenant = await workspaceOf(tx, event, 'sessions');
  if (feedback_stats === undefined) await refreshFeedbackStats(tx, tenant, id);
  await tx.query(
    `update datasets d set example_count = $2 from sessions s
     where s.id = $1 and d.id = s.reference_dataset_id and s.tenant_id = $3 and d.tenant_id = $3`,
    [id, example_count, tenant],
  );
}

async function countSessions(event: Recorded, dataset: string, tx: PoolClient): Promise<void> {
  await tx.query(
    `update datasets set (session_count, last_session_start_time) =
       (select count(*), max(start_time) from sessions where reference_dataset_id = $1 and tenant_id = $2)
     where id = $1 and tenant_id = $2`,
    [dataset, await workspaceOf(tx, event, 'sessions')],
  );
}
