// `npm run test:cluster`: the tests of the HTTP API once more, against a gateway and services in processes of their own.
const SPECS = [
  'contract',
  'control-plane',
  'docs',
  'fuzz',
  'langgraph-cli',
  'langsmith',
  'openapi',
  'parked',
  'rollouts',
  'routes',
  'webhooks',
];
process.env.FAIRLEAD_TEST_SHAPE = 'cluster';
process.argv.push(...SPECS.map((name) => `apps/e2e/src/${name}.spec.ts`));
await import('./test.mjs');
