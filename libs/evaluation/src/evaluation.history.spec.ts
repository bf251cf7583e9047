import { join } from 'node:path';
import { historyTests, renamed } from '@fairlead/eventstoredb/testing';
import { feedbackConfigModel } from '@fairlead/runs';
import { comparativeExperimentAggregate } from './comparative/comparative-experiment';
import { judgementsModel } from './gates/held-revision';
import { monitorModel } from './monitors/monitor';
import { shareModel } from './sharing/share';

historyTests(
  join(__dirname, 'recorded'),
  {
    comparativeExperiment: comparativeExperimentAggregate.model,
    feedbackConfig: feedbackConfigModel,
    gate: judgementsModel,
    monitor: monitorModel,
    share: shareModel,
    shareLink: shareModel,
  },
  renamed('ComparativeExperimentCreated', 'name', 'title'),
);
