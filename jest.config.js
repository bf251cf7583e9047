/** One configuration for every project: sources run through SWC, one PostgreSQL server for the whole run. */
module.exports = {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/{apps,libs,tools}/*/src/**/*.spec.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    // Takes minutes: a part of `npm run test:faults`.
    ...(process.env.FAIRLEAD_FAULTS === 'full' ? [] : ['rolling.spec']),
    // Needs a control plane: `npm run test:kubernetes` starts one.
    ...(process.env.FAIRLEAD_KUBERNETES ? [] : ['\\.kubernetes\\.spec']),
    // Needs a container engine: `npm run test:containers` finds or starts one.
    ...(process.env.FAIRLEAD_ENGINES ? [] : ['\\.containers\\.spec']),
  ],
  moduleFileExtensions: ['ts', 'mjs', 'js', 'json'],
  moduleNameMapper: {
    '^@fairlead/admin$': '<rootDir>/tools/admin/src/index.ts',
    '^@fairlead/(contracts|evaluation|eventing|eventstoredb|edge|executors|experiments|integrations|postgres|rollouts|service)/testing$':
      '<rootDir>/libs/$1/src/testing/index.ts',
    '^@fairlead/e2e/testing$': '<rootDir>/apps/e2e/src/testing/index.ts',
    '^@fairlead/standalone$': '<rootDir>/apps/standalone/src/index.ts',
    '^@fairlead/kafka$': '<rootDir>/tools/kafka/src/index.ts',
    '^@fairlead/kafka/testing$': '<rootDir>/tools/kafka/src/testing/index.ts',
    '^@fairlead/([^/]+)$': '<rootDir>/libs/$1/src/index.ts',
  },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2023',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
          keepClassNames: true,
        },
        module: { type: 'commonjs' },
        sourceMaps: 'inline',
      },
    ],
    '^.+\\.m?js$': ['@swc/jest', { jsc: { target: 'es2023' }, module: { type: 'commonjs' } }],
  },
  transformIgnorePatterns: [
    '/node_modules/(?!(@nestjs|@seriousme|@kubernetes|@opentelemetry/otlp-exporter-base|file-type|strtok3|token-types|uint8array-extras|@tokenizer|@borewit|load-esm|iterare|octokit|@octokit|universal-user-agent|universal-github-app-jwt|before-after-hook|toad-cache|json-with-bigint|uid|uuid|cookie|content-disposition|content-type|openid-client|oauth4webapi|jose|marked)/)',
  ],
  runtime: '<rootDir>/tools/test/runtime.cjs',
  testSequencer: '<rootDir>/tools/test/sequencer.cjs',
  globalSetup: '<rootDir>/libs/postgres/src/testing/global-setup.ts',
  globalTeardown: '<rootDir>/libs/postgres/src/testing/global-teardown.ts',
  setupFiles: ['reflect-metadata'],
  // Tests wait for conditions; on a busy machine these take long, and only a test that fails waits for so long.
  testTimeout: 300_000,
  // Files often wait, for processes that start or for times that pass: with one for each of two cores these would idle.
  maxWorkers: 3,
};
