import { PayloadStore } from '@fairlead/blobs';
import type { EntityClass, MigrationClass } from '@fairlead/postgres';
import type { EventStore, ReadModel } from '@fairlead/eventing';
import * as comparative from './comparative/comparative-experiment.entity';
import * as datasets from './datasets/dataset.entity';
import * as examples from './examples/example.entity';
import * as feedback from './feedback/feedback.entity';
import * as runs from './runs/run.entity';
import * as sessions from './sessions/session.entity';
import * as shares from './sharing/share.entity';
import * as experimentTables from './migrations/experiment-tables';
import * as payloadTables from './migrations/payload-tables';
import * as runTables from './migrations/run-tables';
import { comparativeExperimentsView } from './comparative/comparative-experiments.projection';
import { experimentsView } from './experiments.projection';
import { PersistRuns } from './storage/persist-runs.consumer';

export const experimentsEntities = [comparative, datasets, examples, feedback, runs, sessions, shares].flatMap((file) =>
  Object.values<EntityClass>(file),
);

export const experimentsMigrations = [experimentTables, runTables, payloadTables].flatMap((file) =>
  Object.values<MigrationClass>(file),
);

export function experimentsReadModels(store: EventStore): ReadModel[] {
  return [
    {
      name: 'experiments',
      tables: [
        ...['datasets', 'sessions', 'examples', 'runs', 'run_attachments', 'feedback', 'awaited_feedback'],
        ...['feedback_configs', 'feedback_changes', 'dataset_versions', 'dataset_tags', 'shares', 'share_links'],
        ...['replaced_runs', 'replaced_feedback'],
      ],
      notes: ['persisted_experiments', 'session_run_bytes', 'stored_run_bytes'],
      projections: (pool) => [experimentsView, new PersistRuns(store, pool, new PayloadStore(pool))],
    },
    {
      name: 'comparative-experiments',
      tables: ['comparative_experiments'],
      projections: () => [comparativeExperimentsView],
    },
  ];
}
