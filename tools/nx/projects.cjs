// Tells Nx about the projects: every folder of apps, libs and tools is one, with tags and with the targets that its files
// call for. `build` comes from the scripts in package.json, what makes a target stale from nx.json. The boundaries between
// the types of libraries are held by lint: eslint.config.mjs, tools/lint/layers.cjs.
const { existsSync, readdirSync } = require('node:fs');
const { basename, dirname, join } = require('node:path');

const DOMAINS = [
  'access',
  'audit',
  'blobs',
  'datasets',
  'deployments',
  'evaluation',
  'experiments',
  'integrations',
  'auth-providers',
  'rollouts',
  'runs',
  'webhooks',
];
/** Libraries that the domains may import. */
const FOUNDATION = ['contracts', 'eventing', 'schema', 'outbound', 'api', 'edge', 'postgres'];

/** Their tests look at the sources of all others. */
const WHOLE = ['apps/e2e', 'tools/faults', 'tools/lint'];

function typeOf(root) {
  const [folder, name] = root.split('/');
  if (folder !== 'libs') return folder === 'apps' ? 'app' : 'tool';
  if (DOMAINS.includes(name)) return 'domain';
  return [...FOUNDATION, 'eventstoredb'].includes(name) ? 'foundation' : 'service';
}

function project(root, workspace) {
  const files = existsSync(join(workspace, root, 'src'))
    ? readdirSync(join(workspace, root, 'src'), { recursive: true })
    : [];
  const targets = { lint: { command: `eslint ${root} && oxlint --no-error-on-unmatched-pattern ${root}` } };
  if (existsSync(join(workspace, root, 'tsconfig.json')))
    targets.typecheck = { command: 'tsc -p tsconfig.json', options: { cwd: root } };
  if (files.some((file) => file.endsWith('.spec.ts'))) targets.test = { command: `jest ${root}/src` };
  return {
    name: root.replace('/', '-'),
    root,
    tags: [`type:${typeOf(root)}`, `scope:${basename(root)}`],
    targets,
    ...(WHOLE.includes(root) ? { implicitDependencies: ['*'] } : {}),
  };
}

module.exports = {
  DOMAINS,
  FOUNDATION,
  name: 'fairlead',
  createNodes: [
    '{apps,libs,tools}/*/*',
    (files, _options, { workspaceRoot }) =>
      [...new Set(files.map((file) => dirname(file)))].map((root) => [
        files.find((file) => dirname(file) === root),
        { projects: { [root]: project(root, workspaceRoot) } },
      ]),
  ],
};
