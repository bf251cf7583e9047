import js from '@eslint/js';
import tseslint from 'typescript-eslint';
import circles from './tools/lint/circles.cjs';
import docComments from './tools/lint/doc-comments.cjs';
import fileNames from './tools/lint/file-names.cjs';
import layers from './tools/lint/layers.cjs';
import shortRoutes from './tools/lint/short-routes.cjs';
import jest from './jest.config.js';
import projects from './tools/nx/projects.cjs';

const { DOMAINS, FOUNDATION } = projects;
const { testTimeout } = jest;
/** Rules of our own. */
const fairlead = {
  rules: {
    circles: circles.rule,
    'doc-comments': docComments.rule,
    'file-names': fileNames.rule,
    layers: layers.rule,
    'short-routes': shortRoutes.rule,
  },
};

/** Which of our libraries each folder may import; a domain imports no domain but one below it. */
const MAY_IMPORT = {
  contracts: [],
  postgres: ['schema'],
  schema: [],
  outbound: ['schema'],
  api: ['schema'],
  edge: ['schema', 'outbound', 'api', 'postgres'],
  gateway: ['schema', 'api', 'edge'],
  eventing: ['contracts', 'postgres', 'schema'],
  eventstoredb: ['eventing', 'schema'],
  access: FOUNDATION,
  audit: FOUNDATION,
  deployments: FOUNDATION,
  // Bodies, below what is made of them; threads load it, so it has no framework behind it.
  blobs: ['schema'],
  runs: [...FOUNDATION, 'blobs'],
  datasets: [...FOUNDATION, 'blobs', 'runs'],
  experiments: [...FOUNDATION, 'blobs', 'runs', 'datasets'],
  evaluation: [...FOUNDATION, 'blobs', 'runs', 'datasets', 'experiments'],
  integrations: FOUNDATION,
  'auth-providers': FOUNDATION,
  // Run revisions, and know no events.
  executors: ['contracts', 'schema', 'api'],
  rollouts: [...FOUNDATION, 'executors'],
  webhooks: FOUNDATION,
  // Not a domain: what the processes are made of, and how they start.
  service: [...FOUNDATION, 'eventstoredb', 'gateway', 'executors', ...DOMAINS],
};

/** Packages that a pure file (no dot in its stem) of a domain must not import: frameworks, databases, disks, networks. */
const IMPURE = [
  '@nestjs/*',
  'fastify',
  'typeorm',
  'pg',
  'pg-*',
  'node:fs',
  'node:fs/*',
  'node:http',
  'node:net',
  'undici',
];
const PURE = { group: IMPURE, message: 'A file with no dot in its stem is pure.', allowTypeImports: false };
const NO_EVENTS = {
  group: ['@fairlead/contracts'],
  importNamePattern: 'Message$',
  message: 'Executors know no events: they are given what is to run.',
};
/** Files of a library that its rules of names and imports leave out. */
const NO_FILES = ['**/index.ts', '**/migrations/**', '**/testing/**'];
/** Where a signal of `AbortSignal.timeout` cannot be lost: given to `fetch` itself, which holds it. */
const GIVEN_TO_FETCH =
  'CallExpression[callee.name="fetch"] > ObjectExpression > Property[key.name="signal"] > CallExpression > .callee';
/** Rules of syntax for all files. */
const SYNTAX = [
  ...['name', 'value'].map((key) => ({
    selector: `MemberExpression[object.name="AbortSignal"][property.${key}="timeout"]:not(${GIVEN_TO_FETCH})`,
    message: 'Node.js 20 can lose such a signal where it is combined with others: use withTimeLimit or TimeLimit.',
  })),
  {
    selector:
      'Decorator > CallExpression[callee.name=/^(Res|Response|Next)$/]:not(:has(Property[key.name="passthrough"]))',
    message:
      'The answer is what a handler returns, so that it is checked and can be repeated: @Res({ passthrough: true }).',
  },
];

export default tseslint.config(
  {
    ignores: ['**/dist/', '**/node_modules/', 'apps/console/generated/', '.nx/', '.cache/', '.fairlead/', 'coverage/'],
  },
  js.configs.recommended,
  {
    files: ['**/*.{js,cjs,mjs,ts,tsx}'],
    plugins: { fairlead },
    rules: {
      'no-restricted-syntax': ['error', ...SYNTAX],
      'fairlead/circles': 'error',
      'fairlead/doc-comments': 'error',
    },
  },
  {
    files: ['**/*.{js,cjs,mjs}'],
    languageOptions: {
      globals: Object.fromEntries(
        [
          'process',
          'console',
          'URL',
          'fetch',
          'setTimeout',
          'clearTimeout',
          'Buffer',
          'performance',
          'AbortSignal',
          'setInterval',
          'clearInterval',
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
  {
    files: ['**/*.{js,cjs}'],
    languageOptions: {
      sourceType: 'commonjs',
      globals: { require: 'readonly', module: 'writable', __dirname: 'readonly' },
    },
  },
  {
    files: ['**/*.ts'],
    ignores: ['apps/console/**'],
    extends: [tseslint.configs.recommended],
    rules: {
      'fairlead/layers': ['error', MAY_IMPORT],
      'fairlead/short-routes': 'error',
    },
  },
  {
    files: [`libs/{executors,${DOMAINS}}/src/**/*.ts`],
    ignores: ['**/*.spec.ts', ...NO_FILES],
    rules: { 'fairlead/file-names': 'error' },
  },
  {
    files: [`libs/{${DOMAINS}}/src/**/*.ts`],
    ignores: ['**/*.*.ts', ...NO_FILES],
    rules: { 'no-restricted-imports': ['error', { patterns: [PURE] }] },
  },
  {
    files: ['libs/executors/src/**/*.ts'],
    ignores: ['**/*.spec.ts'],
    rules: { 'no-restricted-imports': ['error', { patterns: [NO_EVENTS] }] },
  },
  {
    files: ['libs/executors/src/**/*.ts'],
    ignores: ['**/*.*.ts', ...NO_FILES],
    rules: { 'no-restricted-imports': ['error', { patterns: [PURE, NO_EVENTS] }] },
  },
  {
    // What it knows of the service is the HTTP API.
    files: ['apps/cli/src/**/*.ts'],
    ignores: ['**/*.spec.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ group: ['@fairlead/*'], message: 'The command line uses the public HTTP API only.' }] },
      ],
    },
  },
  {
    // Its types are checked with those that are made of the service's API, which are no part of the sources.
    files: ['apps/console/**/*.{ts,tsx}'],
    extends: [tseslint.configs.recommended],
    rules: { 'fairlead/layers': ['error', {}] },
  },
  {
    // What is below the server is tested with the servers that stand above it; histories are read from every event store.
    files: [
      'libs/{blobs,runs,datasets,experiments,outbound,gateway}/src/**/*.spec.ts',
      'libs/executors/src/**/{testing/*,*.spec}.ts',
      'libs/eventstoredb/src/**/{*.spec,testing/*}.ts',
      'libs/*/src/**/{*.,}history.spec.ts',
    ],
    rules: { 'fairlead/layers': 'off' },
  },
  {
    files: ['**/*.spec.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...SYNTAX,
        ...['callee.name', 'callee.callee.object.name'].map((name) => ({
          selector: `CallExpression[${name}=/^(it|test|(before|after)(All|Each))$/] > Literal[value<=${testTimeout}]`,
          message: 'The time limit of jest.config.js is as long as a slow machine needs.',
        })),
        {
          selector: 'CallExpression[callee.property.name="waitFor"]:not(:has(Property[key.name="state"]))',
          message: 'While a page changes, two elements may say the same, which waitFor refuses: use appears.',
        },
      ],
    },
  },
);
