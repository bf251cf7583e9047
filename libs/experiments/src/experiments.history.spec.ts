import { join } from 'node:path';
import { historyTests, renamed } from '@fairlead/eventstoredb/testing';
import { datasetModel } from './datasets/dataset';
import { experimentModel } from './sessions/experiment';

historyTests(
  join(__dirname, 'recorded'),
  {
    dataset: datasetModel,
    experiment: experimentModel,
  },
  renamed('DatasetCreated', 'name', 'title'),
);
