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
import { ShareEntity } from './sharing/share.entity';
import { ShareLinkEntity } from './sharing/share-link.entity';

/** Describe the tables of datasets, examples, sessions, runs and feedback. */
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
