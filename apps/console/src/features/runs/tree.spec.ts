import { barOf, inTree, spanOf, unfolded } from './tree';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const run = (id: string, parent: string | null = null, start = 0, end?: number) => ({
  ...{ id, parent_run_id: parent, start_time: at(start), end_time: end === undefined ? null : at(end) },
});
const listed = (...runs: ReturnType<typeof run>[]) =>
  inTree(runs, 'top').map((one) => `${one.depth} ${one.run.id}${one.isOrphan ? '?' : ''}`);

it('lists runs below their parents, siblings by their start', () => {
  expect(listed(run('b', 'top', 2), run('top', 'unknown'), run('a1', 'a', 2), run('a', 'top', 1))).toEqual([
    ...['0 top', '1 a', '2 a1', '1 b'],
  ]);
});

it('lists a run whose parent has not arrived below the root, or at the top without one', () => {
  expect(listed(run('lost', 'gone'), run('top', null, 1))).toEqual(['0 top', '1 lost?']);
  expect(listed(run('lost', 'gone'), run('child', 'lost', 1))).toEqual(['0 lost?', '1 child']);
});

it('lists runs that are parents of each other or of themselves once', () => {
  expect(listed(run('top'), run('a', 'b', 1), run('b', 'a', 2), run('own', 'own', 3), run('top'))).toEqual([
    ...['0 top', '1 own?', '1 a?', '2 b'],
  ]);
});

it('lists a trace of any depth', () => {
  const runs = Array.from({ length: 20_000 }, (_, n) => run(String(n), n === 0 ? null : String(n - 1)));
  const rows = inTree(runs, '0');
  expect(rows.at(-1)).toMatchObject({ run: runs.at(-1), depth: 19_999 });
  expect(rows[0]!.end).toBe(20_000);
});

it('folds away what is below a run', () => {
  const rows = inTree([run('top'), run('a', 'top', 1), run('a1', 'a', 2), run('b', 'top', 3)], 'top');
  expect(unfolded(rows, new Set(['a']))).toEqual([0, 1, 3]);
  expect(unfolded(rows, new Set(['top', 'a']))).toEqual([0]);
});

it('places the bar of a run in the span of its trace', () => {
  const span = spanOf([run('top', null, 0, 10), run('goes on', null, 4)]);
  expect(barOf(run('a', null, 2, 4), span)).toEqual({ left: 20, width: 20 });
  expect(barOf(run('goes on', null, 4), span)).toEqual({ left: 40, width: 60 });
  expect(barOf(run('wrong', null, 6, 5), span)).toEqual({ left: 60, width: 0 });
  expect(barOf(run('at once', null, 3, 3), spanOf([run('at once', null, 3, 3)]))).toEqual({ left: 0, width: 100 });
});
