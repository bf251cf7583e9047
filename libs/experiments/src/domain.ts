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
import { CreatePayloads1763600000000 } from './migrations/1763600000000-create-payloads';
import { DatasetBaselines1764600020000 } from './migrations/1764600020000-dataset-baselines';
import { CreateExperiments1763600001000 } from './migrations/1763600001000-create-experiments';
import { ReadIndexes1763600002000 } from './migrations/1763600002000-read-indexes';
import { Comparisons1763600003000 } from './migrations/1763600003000-comparisons';
import { KeptParts1764000000200 } from './migrations/1764000000200-kept-parts';
import { RunAttachments1764000000400 } from './migrations/1764000000400-run-attachments';
import { SentScores1764000016200 } from './migrations/1764000016200-sent-scores';
import { RunUsage1764000000300 } from './migrations/1764000000300-run-usage';
import { ScoreDirections1763600010100 } from './migrations/1763600010100-score-directions';
import { DatasetChanges1764200020100 } from './migrations/1764200020100-dataset-changes';
import { IdsByTenant1764000000000 } from './migrations/1764000000000-ids-by-tenant';
import { UntoldFeedback1764000020000 } from './migrations/1764000020000-untold-feedback';
import { PayloadDrafts1764200003000 } from './migrations/1764200003000-payload-drafts';
import { ChangedFeedback1764000030000 } from './migrations/1764000030000-changed-feedback';
import { CountedBytes1764400001100 } from './migrations/1764400001100-counted-bytes';
import { RefusedItems1764700040000 } from './migrations/1764700040000-refused-items';
import { ShareLinks1764600050000 } from './migrations/1764600050000-share-links';
import { Shares1764500030000 } from './migrations/1764500030000-shares';
import { ExampleOrder1764800000000 } from './migrations/1764800000000-example-order';
import { ReplacedRuns1764900050000 } from './migrations/1764900050000-replaced-runs';
import { LeftOutMembers1764900052000 } from './migrations/1764900052000-left-out-members';
import { FramedPayloads1764600016100 } from './migrations/1764600016100-framed-payloads';
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
  CreatePayloads1763600000000,
  CreateExperiments1763600001000,
  ReadIndexes1763600002000,
  Comparisons1763600003000,
  ScoreDirections1763600010100,
  IdsByTenant1764000000000,
  KeptParts1764000000200,
  RunUsage1764000000300,
  RunAttachments1764000000400,
  SentScores1764000016200,
  UntoldFeedback1764000020000,
  PayloadDrafts1764200003000,
  ChangedFeedback1764000030000,
  DatasetChanges1764200020100,
  CountedBytes1764400001100,
  Shares1764500030000,
  FramedPayloads1764600016100,
  DatasetBaselines1764600020000,
  ShareLinks1764600050000,
  RefusedItems1764700040000,
  ExampleOrder1764800000000,
  ReplacedRuns1764900050000,
  LeftOutMembers1764900052000,
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
