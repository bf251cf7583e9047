// `npm run test:cluster`: the tests of the HTTP API once more, against a gateway and services in processes of their own.
const SPECS = [
  'api/contract',
  'api/control-plane',
  'api/fuzz',
  'api/openapi',
  'api/routes',
  'clients/langgraph-cli',
  'clients/langsmith',
  'log/live-runs',
  'log/parked',
  'operations/docs',
  'rollouts/rollouts',
  'rollouts/webhooks',
];
process.env.FAIRLEAD_TEST_SHAPE = 'cluster';
process.argv.push(...SPECS.map((name) => `apps/e2e/src/${name}.spec.ts`));
await import('./test.mjs');
