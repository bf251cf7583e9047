import { validate } from '@fairlead/api';
import { programLogQuery } from './log.schema';
import { pageOf } from './program-lines';
import type { ProgramLine } from '@fairlead/executors';

const TEXTS = ['Starts', 'slow ANSWER', 'no answer', 'gave up', 'works'];
const LEVELS = ['INFO', 'WARNING', 'ERROR', 'CRITICAL', 'DEBUG'] as const;
const lines: readonly ProgramLine[] = TEXTS.map((message, n) => {
  return { id: 1_700_000_000_000_000 + n, at: Date.UTC(2026, 0, 1, 0, n), level: LEVELS[n]!, message };
});
const id = (n: number) => String(lines[n]!.id);

function read(query: Readonly<Record<string, string>>, from = lines) {
  const { logs, next_offset } = pageOf(from, validate(programLogQuery, query, 'query'));
  return [logs.map(({ message }) => message), next_offset];
}

it.each<[string, Record<string, string>, string[]]>([
  ['everything', {}, TEXTS],
  ['the newest first', { order: 'desc' }, TEXTS.toReversed()],
  ['a level and those above it', { level: 'warn' }, ['slow ANSWER', 'no answer', 'gave up']],
  ['the highest level', { level: 'CRITICAL' }, ['gave up']],
  ['a text in upper or lower case, as it is', { query: 'Answer' }, ['slow ANSWER', 'no answer']],
  ['no pattern', { query: '.*' }, []],
  ['a level and a text', { query: 'answer', level: 'error' }, ['no answer']],
  ['what is behind a place', { offset: id(3) }, ['works']],
  ['what is before a place', { offset: id(2), order: 'desc' }, ['slow ANSWER', 'Starts']],
  ['what is left when the place is forgotten', { offset: '7' }, TEXTS],
  ['nothing before a place that is forgotten', { offset: '7', order: 'desc' }, []],
  ['nothing behind the newest', { offset: id(4) }, []],
  ['a time', { start_time: '2026-01-01T00:01:00Z', end_time: '2026-01-01T00:02:00Z' }, ['slow ANSWER', 'no answer']],
])('finds %s', (_, query, found) => {
  const last = lines.find(({ message }) => message === found.at(-1));
  expect(read(query)).toEqual([found, last ? String(last.id) : null]);
});

it('goes on page by page, both ways', () => {
  expect(read({ limit: '2' })).toEqual([TEXTS.slice(0, 2), id(1)]);
  expect(read({ limit: '2', offset: id(1) })).toEqual([TEXTS.slice(2, 4), id(3)]);
  expect(read({ limit: '2', order: 'desc' })).toEqual([['works', 'gave up'], id(3)]);
  expect(read({ limit: '2', order: 'desc', offset: id(3) })).toEqual([['no answer', 'slow ANSWER'], id(1)]);
  expect(read({}, [])).toEqual([[], null]);
  expect(read({ order: 'desc', offset: id(3) }, [])).toEqual([[], null]);
});

it.each([
  ['level', 'loud'],
  ['limit', '1001'],
  ['offset', '-1'],
  ['wait', '61'],
  ['query', 'x'.repeat(1001)],
])('refuses the %s %s', (name, value) => {
  expect(() => read({ [name]: value })).toThrow();
});
