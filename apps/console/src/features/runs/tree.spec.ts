import { inTree } from './tree';

const run = (id: string, parent_run_id: string | null) => ({ id, parent_run_id });
const listed = (...runs: ReturnType<typeof run>[]) => inTree(runs).map((one) => `${one.depth} ${one.run.id}`);

it('lists runs below their parents, siblings in the order given', () => {
  expect(listed(run('top', 'unknown'), run('a', 'top'), run('b', 'top'), run('a1', 'a'))).toEqual([
    '0 top',
    '1 a',
    '2 a1',
    '1 b',
  ]);
});

it('lists a trace of any depth', () => {
  const runs = Array.from({ length: 20_000 }, (_, n) => run(String(n), n === 0 ? null : String(n - 1)));
  expect(inTree(runs).at(-1)).toEqual({ run: runs.at(-1), depth: 19_999 });
});
