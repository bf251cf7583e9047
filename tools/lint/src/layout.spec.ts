import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { EARLIER, endingOf } from '../file-names.cjs';
import { circlesOf, filesIn, readModules } from './modules';

const root = join(__dirname, '../../..');
const files = ['libs', 'apps', 'tools'].flatMap((folder) => filesIn(folder, /\.(ts|tsx|mjs|cjs)$/));

it.each([
  ['another domain', 'libs/audit/src/audit.queries.ts', `import '@fairlead/access';`, 'boundaries/dependencies'],
  ['a domain', 'libs/edge/src/server.ts', `import '@fairlead/access';`, 'boundaries/dependencies'],
  ['an application', 'libs/service/src/run.ts', `import '../../../apps/cli/src/main';`, 'boundaries/dependencies'],
  ['a database', 'libs/deployments/src/deployment/deployment.ts', `import 'pg';`, 'no-restricted-imports'],
  ['a library of ours', 'apps/cli/src/main.ts', `import '@fairlead/schema';`, 'no-restricted-imports'],
  ['nothing, but has an ending of its own', 'libs/audit/src/audit.gadget.ts', '', 'fairlead/file-names'],
])('lint refuses a file that imports %s: %s', (_, path, text, rule) => {
  expect(lint({ path, text })).toEqual([[rule]]);
});

it('lint lets pass what the layout allows', () => {
  const allowed = [
    { path: 'libs/audit/src/audit.queries.ts', text: `import '@fairlead/eventing';` },
    { path: 'libs/audit/src/audit.store.ts', text: `import 'pg';` },
    { path: 'libs/audit/src/audited.ts', text: 'export {};' },
  ];
  expect(lint(...allowed)).toEqual([[], [], []]);
});

/** Names of the rules that each of some texts violates. */
function lint(...planted: readonly { readonly path: string; readonly text: string }[]): string[][] {
  const input = JSON.stringify(planted);
  return JSON.parse(execFileSync(process.execPath, [join(root, 'tools/lint/planted.mjs')], { input }).toString());
}

it('names no earlier ending that no file has any more', () => {
  const endings = new Set(files.filter((file) => /^libs\/[^/]+\/src\//.test(file)).map(endingOf));
  expect(EARLIER.filter((ending) => !endings.has(ending))).toEqual([]);
});

it('has no circle of files that load one another', () => {
  expect(circlesOf(readModules())).toEqual([]);
});

it('would find a circle', () => {
  const module = (...loaded: string[]) => ({ loaded: new Set(loaded) });
  const modules = new Map([
    ['a', module('b')],
    ['b', module('c', 'd')],
    ['c', module('a')],
    ['d', module()],
  ]);
  expect(circlesOf(modules)).toEqual([
    ['a', 'b', 'c'],
    ['b', 'c', 'a'],
    ['c', 'a', 'b'],
  ]);
});

const MOST = 25;
/** Folders that hold more, and how many. */
const LARGER: Readonly<Record<string, number>> = {
  'libs/access/src': 33,
  'apps/e2e/src/testing': 33,
  'libs/auth-providers/src': 31,
  'libs/service/src': 30,
  'libs/experiments/src/runs': 28,
  'libs/integrations/src': 26,
  'libs/eventing/src/core': 26,
};

it('holds 25 sources or fewer in a folder, specs not counted', () => {
  const counts = new Map<string, number>();
  for (const file of files.filter((name) => !name.endsWith('.spec.ts'))) {
    counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  }
  const larger = [...counts].filter(([folder, count]) => count > (LARGER[folder] ?? MOST));
  expect(Object.fromEntries(larger)).toEqual({});
  // A folder that became small enough is no exception any more.
  expect(Object.keys(LARGER).filter((folder) => (counts.get(folder) ?? 0) <= MOST)).toEqual([]);
});
