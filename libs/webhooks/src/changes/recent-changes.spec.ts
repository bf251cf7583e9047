import { type Change, RecentChanges } from './recent-changes';

const change = (position: number, workspace = 'a', text = `${position}`): Change => ({
  ...{ position: BigInt(position), workspace, type: 'deployment.created', ids: new Set<string>(), text },
});
const after = (recent: RecentChanges, workspace: string, position: number) =>
  recent.after(workspace, BigInt(position))?.map((each) => Number(each.position));

it('are those of one workspace after a position, in their order', () => {
  const recent = new RecentChanges(10n);
  recent.take([change(11), change(12, 'b'), change(13)], 15n);
  expect(recent.reached).toBe(15n);
  expect(after(recent, 'a', 10)).toEqual([11, 13]);
  expect(after(recent, 'a', 11)).toEqual([13]);
  expect(after(recent, 'a', 15)).toEqual([]);
  expect(after(recent, 'nobody', 10)).toEqual([]);
});

it('are not told when some are no longer known', () => {
  const recent = new RecentChanges(10n, { workspaces: 2, changes: 2, characters: 100 });
  expect(after(recent, 'a', 9)).toBeUndefined();
  recent.take([change(11), change(12), change(13)], 13n);
  expect(after(recent, 'a', 10)).toBeUndefined();
  expect(after(recent, 'a', 11)).toEqual([12, 13]);
  expect(after(recent, 'b', 10)).toEqual([]);
});

it('are few in characters too', () => {
  const recent = new RecentChanges(0n, { workspaces: 2, changes: 9, characters: 10 });
  recent.take([change(1, 'a', 'x'.repeat(6)), change(2, 'a', 'x'.repeat(6)), change(3, 'b', 'x'.repeat(11))], 3n);
  expect(after(recent, 'a', 0)).toBeUndefined();
  expect(after(recent, 'a', 1)).toEqual([2]);
  expect(after(recent, 'b', 0)).toBeUndefined();
  expect(after(recent, 'b', 3)).toEqual([]);
});

it('are forgotten of the workspaces in which nothing has happened for longest', () => {
  const recent = new RecentChanges(0n, { workspaces: 2, changes: 9, characters: 100 });
  recent.take([change(1, 'a'), change(2, 'b'), change(3, 'a'), change(4, 'c')], 5n);
  expect(after(recent, 'a', 0)).toEqual([1, 3]);
  expect(after(recent, 'b', 1)).toBeUndefined();
  expect(after(recent, 'b', 2)).toEqual([]);
  recent.take([change(6, 'b')], 6n);
  expect(after(recent, 'b', 2)).toEqual([6]);
  expect(after(recent, 'b', 1)).toBeUndefined();
  expect(after(recent, 'a', 2)).toBeUndefined();
});
