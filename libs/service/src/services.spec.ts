import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SERVICE_NAMES, type ServiceName } from './settings/settings';

const root = join(__dirname, '../../..');

/** Loads a service as its process does, and prints every file that was loaded. */
const LOAD = `
  const { startAlone } = require(${JSON.stringify(join(__dirname, 'index.ts'))});
  const { services } = require(${JSON.stringify(join(__dirname, 'services.ts'))});
  services[process.argv[1]]().then(() => console.log(JSON.stringify(Object.keys(require.cache))));
`;

/** Libraries and packages that only some processes need. */
const COSTLY = [
  ...[
    'access',
    'audit',
    'auth-providers',
    'deployments',
    'eventstoredb',
    'executors',
    'experiments',
    'gateway',
    'integrations',
    'rollouts',
    'webhooks',
  ],
  ...['@eventstore/db-client', '@grpc/grpc-js', 'kafkajs'],
  ...['@kubernetes/client-node', '@octokit/core', 'csv-parse', 'openid-client', 'standardwebhooks'],
];

async function loadedBy(service: ServiceName): Promise<string[]> {
  const typescript = ['-r', 'reflect-metadata', '-r', join(root, 'tools/test/typescript.cjs')];
  const { stdout } = await promisify(execFile)(process.execPath, [...typescript, '-e', LOAD, service], {
    cwd: root,
    maxBuffer: 2 ** 24,
  });
  const files = JSON.parse(stdout) as string[];
  const named = files.map((file) => /\/libs\/([^/]+)\/src\/|.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file));
  const loaded = new Set(named.map((found) => found?.[1] ?? found?.[2]));
  return COSTLY.filter((name) => loaded.has(name));
}

const EXPECTED: Readonly<Record<ServiceName, readonly string[]>> = {
  // It asks the code host if the reference of a source is a branch, which pushes can follow.
  deployments: ['deployments', 'integrations', '@octokit/core'],
  // It notes for each push which deployments follow the repository, and tells pull requests how experiments compare.
  integrations: ['deployments', 'experiments', 'integrations', '@octokit/core', 'csv-parse'],
  'auth-providers': ['auth-providers', 'openid-client'],
  experiments: ['experiments', 'csv-parse'],
  // In a process of its own it reads sources and resolves commits itself. Kubernetes' client comes with that executor.
  rollouts: ['deployments', 'executors', 'integrations', 'rollouts', '@octokit/core'],
  webhooks: ['webhooks', 'standardwebhooks'],
};

it.each(SERVICE_NAMES)(
  'a process of the service %s loads only the domains and packages that it needs',
  async (name) => {
    expect(await loadedBy(name)).toEqual(EXPECTED[name]);
  },
);
