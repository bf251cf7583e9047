import { join } from 'node:path';
import { historyTests, renamed } from '@fairlead/eventstoredb/testing';
import { integrationModel } from './integration/integration';

historyTests(
  join(__dirname, 'recorded'),
  { integration: integrationModel },
  renamed('IntegrationAdded', 'base_url', 'url'),
);
