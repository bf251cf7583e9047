import 'reflect-metadata';
import { run, startAlone } from '@fairlead/service';

void run(
  (settings) => startAlone('experiments', settings),
  ({ url }) => `The service experiments listens at ${url}`,
);
