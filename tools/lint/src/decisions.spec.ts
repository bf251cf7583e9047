import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const FOLDER = resolve(__dirname, '../../../docs/decisions');
const list = readFileSync(join(FOLDER, 'README.md'), 'utf8');
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
function faults(name: string, text: string, listed: string): string[] {
  const [title = '', empty, status = ''] = text.split('\n');
  const [, number, words = ''] = /^# (\d+)\. (.+)$/.exec(title) ?? [];
  const found = [];
  if (Number(number) !== Number(name.slice(0, 4))) found.push('its title begins with another number than its name');
  if (words.split(' ').length < 4 || !VERB.test(words) || /[.?]$/.test(words)) found.push('its title says no decision');
  if (empty !== '' || !STATUS.test(status)) found.push('its third line is no date and status');
  const entry = `${number}. [${words}](${name})`;
  const mark = /· (superseded|proposed)/.exec(status)?.[1];
  if (!listed.split('\n').includes(mark ? `${entry} (${mark})` : entry))
    found.push('the list has another title for it');
  return found;
}

it('every record has a date, a status, and a title that says the decision and is in the list', () => {
  const text = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
  expect(records.flatMap((name) => faults(name, text(name), list).map((fault) => `${name}: ${fault}`))).toEqual([]);
  expect(records.length).toBeGreaterThan(50);
});

it.each([
  ['# 7. A log has one order\n\n2026-11-20 · accepted\n', []],
  ['# 8. A log has one order\n\n2026-11-20 · accepted\n', ['number', 'the list']],
  ['# 7. Many doors\n\n2026-11-20 · accepted\n', ['no decision', 'the list']],
  ['# 7. A log has one order\n\nAccepted in November.\n', ['no date and status']],
  ['# 7. A log has one order\n\n2026-11-20 · superseded\n', ['no date and status', 'the list']],
  ['# 7. A log has one order\n\n2026-11-20 · proposed\n', ['the list']],
  ['# 7. A log has one order\n\n2026-11-20 · superseded by [8](0008-two.md)\n', ['the list']],
])('%j breaks %j', (text, expected) => {
  const found = faults('0007-one.md', text, '7. [A log has one order](0007-one.md)\n');
  expect(found).toEqual(expected.map((part) => expect.stringContaining(part)));
});
