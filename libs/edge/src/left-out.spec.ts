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

it('is what the list of methods calls 501, by its families', () => {
  const [, section = ''] = /^These are answered \[501\][^\n]*\n(.+?)^## /ms.exec(page) ?? [];
  const said = [...section.matchAll(/^- ([^:]+): /gm)].map(([, name]) => name!);
  expect(section.match(/`\w+`/g)!.length).toBeGreaterThan(40);
  expect(said.filter((name) => !names.includes(name))).toEqual([]);
});
