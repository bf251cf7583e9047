import 'reflect-metadata';
import { run, startAlone } from '@fairlead/service';

void run(
  (settings) => startAlone('webhooks', settings),
  ({ url }) => `The service webhooks listens at ${url}`,
);
