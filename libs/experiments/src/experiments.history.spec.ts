import { join } from 'node:path';
import { historyTests, renamed } from '@fairlead/eventstoredb/testing';
import { experimentModel } from '@fairlead/runs';
import { datasetModel } from '@fairlead/datasets';

historyTests(
  join(__dirname, 'recorded'),
  {
    dataset: datasetModel,
    experiment: experimentModel,
  },
  renamed('DatasetCreated', 'name', 'title'),
);
