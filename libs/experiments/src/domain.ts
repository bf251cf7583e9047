import { PayloadStore } from '@fairlead/blobs';
import type { MigrationClass } from '@fairlead/postgres';
import type { EventStore, ReadModel } from '@fairlead/eventing';
import { DeletedSessions, LiveRuns, PersistRuns, RunBatches, runsEntities } from '@fairlead/runs';
import { datasetsEntities, LoggedDatasets } from '@fairlead/datasets';
import * as experimentTables from './migrations/experiment-tables';
import * as gateTables from './migrations/gate-tables';
import * as monitorTables from './migrations/monitor-tables';
import * as payloadTables from './migrations/payload-tables';
import * as runIndexes from './migrations/run-indexes';
import * as runTables from './migrations/run-tables';
import * as workspaceKeys from './migrations/workspace-keys';
import { experimentsView, type Handler } from './experiments.projection';

export const experimentsEntities = [...datasetsEntities, ...runsEntities];

export const experimentsMigrations = [
  ...[experimentTables, runTables, payloadTables, workspaceKeys, runIndexes, gateTables, monitorTables],
].flatMap((file) => Object.values<MigrationClass>(file));

/** Tables and handlers that a library above this one adds to the view of experiments. */
interface Above {
  readonly tables: readonly string[];
  readonly handlers: ReadonlyMap<string, Handler>;
}

export function experimentsReadModel(store: EventStore, { tables, handlers }: Above): ReadModel {
  return {
    name: 'experiments',
    tables: [
      ...['datasets', 'sessions', 'examples', 'runs', 'run_attachments', 'feedback', 'awaited_feedback'],
      ...['feedback_configs', 'feedback_changes', 'dataset_versions', 'dataset_tags', ...tables],
      ...['replaced_runs', 'replaced_feedback', 'trace_counts'],
    ],
    notes: ['persisted_experiments', 'session_run_bytes', 'stored_run_bytes', 'stored_run_batches', 'trace_recounts'],
    projections: (pool) => [
      experimentsView(handlers),
      new PersistRuns(store, pool, new PayloadStore(pool), new LoggedDatasets(store)),
      new LiveRuns(store, pool, new RunBatches(pool)),
      new DeletedSessions(store, pool),
    ],
  };
}
