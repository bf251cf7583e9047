import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { endingOf } from '../file-names.cjs';
import { filesIn, root } from './testing/files';

/*
 * SQL on runs, feedback and attachments of runs stands in files for SQL: elsewhere in `libs/runs` it is written by
 * nobody, and the libraries above only read, in files of queries.
 */
const SQL = /\b(from|join|into|update|using)\s+(?:runs|feedback|run_attachments)\b(?!\s+is\b)/g;
const READS: ReadonlySet<string> = new Set(['from', 'join']);
const OWN = new Set(['queries', 'projection', 'store']);
/** Parts of statements that several files share. */
const PARTS = new Set(['libs/runs/src/common/run-usage.ts', 'libs/runs/src/run/runs-vocabulary.ts']);
const ABOVE = /^libs\/(?:datasets|experiments|evaluation)\//;

function mayHold(file: string, text: string): boolean {
  const words = [...text.matchAll(SQL)].map(([, word]) => word!);
  if (words.length === 0 || PARTS.has(file)) return true;
  const ending = endingOf(file) ?? '';
  if (file.startsWith('libs/runs/')) return OWN.has(ending);
  const writes =
    /\bdelete\s+from\s+(?:runs|feedback|run_attachments)\b/.test(text) || words.some((word) => !READS.has(word));
  return ABOVE.test(file) && ending === 'queries' && !writes;
}

const withoutComments = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');

it('SQL on runs stands in files for it', () => {
  const files = ['libs', 'apps'].flatMap((folder) =>
    filesIn(folder, /\.ts$/).filter((file) => !/\.spec\.ts$|\/(?:testing|migrations)\//.test(file)),
  );
  const texts = files.map((file) => [file, withoutComments(readFileSync(join(root, file), 'utf8'))] as const);
  expect(texts.filter(([file, text]) => !mayHold(file, text)).map(([file]) => file)).toEqual([]);
  expect(texts.filter(([, text]) => text.search(SQL) >= 0).length).toBeGreaterThan(20);
});

it.each([
  ['libs/runs/src/run/runs.queries.ts', 'select id from runs', true],
  ['libs/runs/src/run/runs.controller.ts', 'select id from runs', false],
  ['libs/runs/src/run/runs.commands.ts', 'select id from sessions', true],
  ['libs/evaluation/src/row/row.queries.ts', 'select id from runs', true],
  ['libs/evaluation/src/row/row.queries.ts', 'delete from feedback', false],
  ['libs/evaluation/src/row/row.projection.ts', 'select id from runs', false],
  ['libs/rollouts/src/run.queries.ts', 'select id from runs', false],
])('%s may hold "%s": %s', (file, text, isRight) => {
  expect(mayHold(file, text)).toBe(isRight);
});
