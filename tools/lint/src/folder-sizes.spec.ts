import { dirname } from 'node:path';
import { filesIn } from './testing/files';

const MOST = 25;
const files = ['libs', 'apps', 'tools'].flatMap((folder) => filesIn(folder, /\.(ts|tsx|mjs|cjs)$/));

it('holds 25 sources or fewer in a folder, specs not counted', () => {
  const counts = new Map<string, number>();
  for (const file of files.filter((name) => !name.endsWith('.spec.ts'))) {
    counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  }
  const larger = [...counts].filter(([, count]) => count > MOST).map(([folder]) => folder);
  expect(larger).toEqual([]);
});
