import { join } from 'node:path';
import { historyTests, renamed } from '@fairlead/eventstoredb/testing';
import { hostModel } from './rollout/host';
import { rolloutModel } from './rollout/rollout';

historyTests(
  join(__dirname, 'recorded'),
  { host: hostModel, rollout: rolloutModel },
  renamed('RolloutStatusReported', 'status', 'state'),
);
