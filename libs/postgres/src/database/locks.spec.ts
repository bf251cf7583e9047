import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LOCKS } from './locks';

const ROOT = join(__dirname, '../../../..');

/** The source files that are neither built nor installed. */
function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return ['dist', 'node_modules'].includes(entry.name) ? [] : sources(path);
    return /\.(ts|mjs|sql)$/.test(entry.name) ? [path] : [];
  });
}

it('gives every advisory lock a number of its own', () => {
  const numbers = Object.values(LOCKS);
  expect(new Set(numbers).size).toBe(numbers.length);
});

it('holds the number of every advisory lock that is taken anywhere', () => {
  const numbers = new Set<number>(Object.values(LOCKS));
  const taken = ['libs', 'apps', 'tools'].flatMap(sources).flatMap((path) => {
    if (path === 'libs/postgres/src/database/locks.ts') return [];
    const calls = readFileSync(join(ROOT, path), 'utf8').matchAll(
      /advisory_(?:xact_)?(?:lock|unlock)\w*\(\s*(\d[\d_]*)/g,
    );
    return [...calls].map(([, number]) => ({ path, number: Number(number!.replaceAll('_', '')) }));
  });
  expect(taken.filter(({ path, number }) => !path.endsWith('.sql') || !numbers.has(number))).toEqual([]);
  // The function of the log is SQL, which cannot import the number.
  expect(taken).toContainEqual({ path: expect.stringContaining('append_events.sql') as string, number: LOCKS.append });
});
