import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { endingOf } from '../file-names.cjs';
import { filesIn, root } from './testing/files';

const files = ['libs', 'apps', 'tools'].flatMap((folder) =>
  filesIn(folder, /\.ts$/).filter((file) => !/\.spec\.ts$|\/testing\//.test(file)),
);

interface Named {
  readonly file: string;
  readonly name: string;
}

/** The classes that files export, without those that they throw: an error stands beside what throws it. */
const classes: Named[] = files.flatMap((file) => {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/^export (?:abstract )?class (\w+)/gm)]
    .map(([, name]) => ({ file, name: name! }))
    .filter(({ name }) => endingOf(file) !== 'errors' && !text.includes(`throw new ${name}(`));
});

/** The words of a name in lower case, in the singular. */
function words(name: string): string {
  return name
    .split(/[-.]|(?<=[a-z])(?=[A-Z])/)
    .map((word) => word.toLowerCase().replace(/s$/, ''))
    .join(' ');
}

/** True when a class has the name of its file: with the ending, without it, or as the view that a projection keeps. */
function fits(file: string, name: string): boolean {
  const base = file.replace(/^.*\//, '').replace(/\.ts$/, '');
  const ending = endingOf(file)!;
  const bare = words(base.slice(0, -ending.length - 1));
  const expected = [words(base), bare, ...(ending === 'projection' ? [`${bare} view`] : [])];
  // A file may hold the entities of several tables of one thing.
  if (ending === 'entity') return words(name).replaceAll(' ', '').startsWith(bare.replaceAll(' ', ''));
  return expected.some((one) => one.replaceAll(' ', '') === words(name).replaceAll(' ', ''));
}

it('names a class after its file', () => {
  const named = new Map<string, string[]>();
  for (const { file, name } of classes) {
    if (endingOf(file) !== undefined) named.set(file, [...(named.get(file) ?? []), name]);
  }
  const others = [...named].filter(([file, names]) => !names.some((name) => fits(file, name)));
  expect(others.map(([file, names]) => `${file}: ${names.join(', ')}`)).toEqual([]);
});

it('has no two classes of one name', () => {
  const twice = classes.filter(({ file, name }) => classes.some((one) => one.name === name && one.file !== file));
  expect(twice.map(({ file, name }) => `${file} ${name}`)).toEqual([]);
});

it.each([
  ['libs/x/src/delivery.worker.ts', 'DeliverySender', false],
  ['libs/x/src/delivery.worker.ts', 'DeliveryWorker', true],
  ['libs/x/src/known-keys.service.ts', 'KnownKeys', true],
  ['libs/x/src/listener.projection.ts', 'ListenersView', true],
  ['libs/x/src/listener.store.ts', 'ListenersView', false],
])('%s may hold %s: %s', (file, name, isRight) => {
  expect(fits(file, name)).toBe(isRight);
});
