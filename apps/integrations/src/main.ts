import 'reflect-metadata';
import { run, startAlone } from '@fairlead/service';

void run(
  (settings) => startAlone('integrations', settings),
  ({ url }) => `The service integrations listens at ${url}`,
);
