import { basename, dirname } from 'node:path';
import { filesIn } from './testing/files';

const files = ['libs', 'apps', 'tools'].flatMap((folder) => filesIn(folder, /\.(ts|tsx|mjs|cjs)$/));

/** The first part of a file's name: the subject of a spec, or a source without its ending. */
const subjectOf = (file: string) => basename(file).split('.')[0]!;

/**
 * Specs whose subject is not found by name: they begin with the name of a source in their folder, or with that of the
 * folder (of the project for `src`) where they test the whole of it. A folder without sources holds suites.
 */
function lost(all: readonly string[]): string[] {
  const subjects = new Map<string, Set<string>>();
  for (const file of all.filter((name) => !name.endsWith('.spec.ts'))) {
    const folder = dirname(file);
    subjects.set(folder, (subjects.get(folder) ?? new Set()).add(subjectOf(file)));
  }
  return all.filter((file) => {
    if (!file.endsWith('.spec.ts')) return false;
    const folder = dirname(file);
    const whole = basename(folder) === 'src' ? dirname(folder) : folder;
    const known = subjects.get(folder);
    return known !== undefined && !known.has(subjectOf(file)) && subjectOf(file) !== basename(whole);
  });
}

it('a spec begins with the name of the file or the folder that it tests', () => {
  expect(lost(files)).toEqual([]);
});

const FOLDER = 'libs/x/src/keys';

it.each([
  [`${FOLDER}/key.spec.ts`, [`${FOLDER}/key.ts`], true],
  [`${FOLDER}/key.history.spec.ts`, [`${FOLDER}/key.ts`], true],
  [`${FOLDER}/key.spec.ts`, [`${FOLDER}/key.store.ts`], true],
  [`${FOLDER}/keys.spec.ts`, [`${FOLDER}/key.ts`], true],
  ['libs/x/src/x.history.spec.ts', ['libs/x/src/index.ts'], true],
  [`${FOLDER}/rotation.spec.ts`, [], true],
  [`${FOLDER}/rotation.spec.ts`, [`${FOLDER}/testing/sample.ts`], true],
  [`${FOLDER}/rotation.spec.ts`, [`${FOLDER}/key.ts`], false],
  [`${FOLDER}/key-rotation.spec.ts`, [`${FOLDER}/key.ts`], false],
  [`${FOLDER}/key.spec.ts`, [`${FOLDER}/key-rotation.ts`, 'libs/x/src/key.ts'], false],
  ['libs/x/src/src.spec.ts', ['libs/x/src/index.ts'], false],
])('of %s beside %j the subject is found: %s', (spec, sources, isFound) => {
  expect(lost([spec, ...sources])).toEqual(isFound ? [] : [spec]);
});
