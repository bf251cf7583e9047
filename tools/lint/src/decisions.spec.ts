import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const FOLDER = resolve(__dirname, '../../../docs/decisions');
const records = readdirSync(FOLDER).filter((name) => /^\d{4}-.*\.md$/.test(name));

/** Verbs of the titles that there are: a new title uses one of them, or adds its own. */
const VERBS = [
  ...['are', 'can', 'come', 'comes', 'deploys', 'describe', 'describes', 'fails', 'gives', 'has', 'have', 'is', 'keep'],
  ...[
    'listens',
    'move',
    'names',
    'passes',
    'read',
    'reads',
    'record',
    'records',
    'refuses',
    'removed',
    'replaces',
    'run',
    'runs',
  ],
  ...['share', 'signs', 'stored', 'talks', 'tells', 'trusts', 'use', 'uses', 'wait', 'writes', 'compress', 'appends'],
];
const VERB = new RegExp(`\\b(?:${VERBS.join('|')})\\b`);

const STATUS = /^\d{4}-\d\d-\d\d · (?:accepted|proposed|superseded by \[\d+\]\(\d{4}-[\w-]+\.md\))(?:[;,] .+)?$/;

/** The rules that a record breaks. */
function faults(name: string, text: string): string[] {
  const [title = '', empty, status = ''] = text.split('\n');
  const [, number, words = ''] = /^# (\d+)\. (.+)$/.exec(title) ?? [];
  const found = [];
  if (Number(number) !== Number(name.slice(0, 4))) found.push('its title begins with another number than its name');
  if (words.split(' ').length < 4 || !VERB.test(words) || /[.?]$/.test(words)) found.push('its title says no decision');
  if (empty !== '' || !STATUS.test(status)) found.push('its third line is no date and status');
  return found;
}

it('every record has a date, a status, and a title that says the decision', () => {
  const text = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
  expect(records.flatMap((name) => faults(name, text(name)).map((fault) => `${name}: ${fault}`))).toEqual([]);
  expect(records.length).toBeGreaterThan(50);
});

it.each([
  ['# 7. A log has one order\n\n2026-11-20 · accepted\n', []],
  ['# 7. A log has one order\n\n2026-11-20 · proposed\n', []],
  ['# 7. A log has one order\n\n2026-11-20 · superseded by [8](0008-two.md)\n', []],
  ['# 8. A log has one order\n\n2026-11-20 · accepted\n', ['number']],
  ['# 7. Many doors\n\n2026-11-20 · accepted\n', ['no decision']],
  ['# 7. A log has one order\n\nAccepted in November.\n', ['no date and status']],
  ['# 7. A log has one order\n\n2026-11-20 · superseded\n', ['no date and status']],
])('%j breaks %j', (text, expected) => {
  expect(faults('0007-one.md', text)).toEqual(expected.map((part) => expect.stringContaining(part)));
});
