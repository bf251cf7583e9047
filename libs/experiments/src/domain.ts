import { PayloadStore } from '@fairlead/blobs';
import type { EntityClass, MigrationClass } from '@fairlead/postgres';
import type { EventStore, ReadModel } from '@fairlead/eventing';
import * as datasets from './datasets/dataset.entity';
import { LoggedDatasets } from './datasets/logged-datasets.service';
import * as examples from './examples/example.entity';
import * as feedback from './feedback/feedback.entity';
import * as runs from './runs/run.entity';
import * as sessions from './sessions/session.entity';
import * as experimentTables from './migrations/experiment-tables';
import * as payloadTables from './migrations/payload-tables';
import * as runTables from './migrations/run-tables';
import { experimentsView, type Handler } from './experiments.projection';
import { PersistRuns } from './storage/persist-runs.consumer';

export const experimentsEntities = [datasets, examples, feedback, runs, sessions].flatMap((file) =>
  Object.values<EntityClass>(file),
);

export const experimentsMigrations = [experimentTables, runTables, payloadTables].flatMap((file) =>
  Object.values<MigrationClass>(file),
);

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
      ...['replaced_runs', 'replaced_feedback'],
    ],
    notes: ['persisted_experiments', 'session_run_bytes', 'stored_run_bytes'],
    projections: (pool) => [
      experimentsView(handlers),
      new PersistRuns(store, pool, new PayloadStore(pool), new LoggedDatasets(store)),
    ],
  };
}
