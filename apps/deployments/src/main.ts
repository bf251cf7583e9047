import 'reflect-metadata';
import { run, startAlone } from '@fairlead/service';

void run(
  (settings) => startAlone('deployments', settings),
  ({ url }) => `The service deployments listens at ${url}`,
);
