import type { MigrationClass } from '@fairlead/postgres';
import type { EventStore, ReadModel } from '@fairlead/eventing';
import { ComparativeExperimentEntity } from './comparative/comparative-experiment.entity';
import { DatasetEntity, DatasetTagEntity, DatasetVersionEntity } from './datasets/dataset.entity';
import { ExampleEntity } from './examples/example.entity';
import {
  AwaitedFeedbackEntity,
  FeedbackChangeEntity,
  FeedbackConfigEntity,
  FeedbackEntity,
  ReplacedFeedbackEntity,
} from './feedback/feedback.entity';
import { ReplacedRunEntity, RunAttachmentEntity, RunEntity } from './runs/run.entity';
import { SessionEntity } from './sessions/session.entity';
import { ShareEntity, ShareLinkEntity } from './sharing/share.entity';
import * as experimentTables from './migrations/experiment-tables';
import * as payloadTables from './migrations/payload-tables';
import * as runTables from './migrations/run-tables';
import { comparativeExperimentsView } from './comparative/comparative-experiments.projection';
import { experimentsView } from './experiments.projection';
import { PayloadStore } from './storage/payload.store';
import { PersistRuns } from './storage/persist-runs.consumer';

export const experimentsEntities = [
  ComparativeExperimentEntity,
  DatasetEntity,
  DatasetTagEntity,
  DatasetVersionEntity,
  ExampleEntity,
  AwaitedFeedbackEntity,
  FeedbackChangeEntity,
  FeedbackConfigEntity,
  FeedbackEntity,
  ReplacedFeedbackEntity,
  ReplacedRunEntity,
  RunAttachmentEntity,
  RunEntity,
  SessionEntity,
  ShareEntity,
  ShareLinkEntity,
];

export const experimentsMigrations: MigrationClass[] = [
  ...Object.values(experimentTables),
  ...Object.values(runTables),
  ...Object.values(payloadTables),
];

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
