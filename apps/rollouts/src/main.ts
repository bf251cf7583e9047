import 'reflect-metadata';
import { run, startAlone } from '@fairlead/service';

void run(
  (settings) => startAlone('rollouts', settings),
  ({ url }) => `The service rollouts listens at ${url}`,
);
