import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FAMILIES } from './left-out';

const page = readFileSync(join(__dirname, '../../../docs/reference/clients.md'), 'utf8');
const names = FAMILIES.map(([name]) => name);

it('is what the page on clients says is refused', () => {
  const [, section = ''] = /^## What is refused\n(.+?)^A request for one of them/ms.exec(page) ?? [];
  const items = section.split('\n').flatMap((line) => /^- (.+)[;.]$/.exec(line)?.[1]?.split(', ') ?? []);
  expect(items.sort()).toEqual([...names].sort());
});

it('is what the table of methods calls 501, by its families', () => {
  const rows = page.split('\n').filter((line) => /^\|[^|]+\|[^|]+\| 501 +\|/.test(line));
  const said = rows.map((row) => /\| Fairlead does not offer ([^|]+?) +\|$/.exec(row)?.[1] ?? row);
  expect(said.length).toBeGreaterThan(40);
  expect(said.filter((name) => !names.includes(name))).toEqual([]);
});
