import { Recent } from './recent';

it('keeps the entries that were read or set last', () => {
  const recent = new Recent<number>(2);
  recent.set('a', 1).set('b', 2);
  expect(recent.get('a')).toBe(1);
  recent.set('c', 3);
  expect([...recent]).toEqual([
    ['a', 1],
    ['c', 3],
  ]);
  recent.set('a', 4).set('d', 5);
  expect([...recent.keys()]).toEqual(['a', 'd']);
  expect(recent.get('b')).toBeUndefined();
});
