import { join } from 'node:path';
import { historyTests, renamed } from '@fairlead/eventstoredb/testing';
import { comparativeExperimentAggregate } from './comparative/comparative-experiment';
import { datasetModel } from './datasets/dataset';
import { feedbackConfigModel } from './feedback/feedback-config';
import { experimentModel } from './sessions/experiment';
import { shareModel } from './sharing/share';

historyTests(
  join(__dirname, 'recorded'),
  {
    comparativeExperiment: comparativeExperimentAggregate.model,
    dataset: datasetModel,
    experiment: experimentModel,
    feedbackConfig: feedbackConfigModel,
    share: shareModel,
    shareLink: shareModel,
  },
  renamed('DatasetCreated', 'name', 'title'),
);
