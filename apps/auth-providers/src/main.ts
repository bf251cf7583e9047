import 'reflect-metadata';
import { run, startAlone } from '@fairlead/service';

void run(
  (settings) => startAlone('auth-providers', settings),
  ({ url }) => `The service auth-providers listens at ${url}`,
);
