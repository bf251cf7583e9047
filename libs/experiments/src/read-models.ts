import type { EventStore, ReadModel } from '@fairlead/eventing';
import { comparativeExperimentsView } from './comparative/comparative-experiments.projection';
import { experimentsView } from './experiments.projection';
import { PayloadStore } from './storage/payload.store';
import { PersistRuns } from './storage/persist-runs.consumer';

/** The tables of this domain that can be made again from the log and the uploaded bodies. */
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
