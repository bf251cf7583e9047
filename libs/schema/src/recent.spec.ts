import { Recent, weightOf } from './recent';

it('keeps the values that were read or set last', () => {
  const recent = new Recent<string>(2);
  recent.set('a', '1').set('b', '2');
  expect(recent.get('a')).toBe('1');
  recent.set('c', '3');
  expect(new Map(recent)).toEqual(new Map([['a', '1']]).set('c', '3'));
  recent.set('a', '4').set('d', '5');
  expect([...recent.keys()].sort()).toEqual(['a', 'd']);
  expect(recent.get('b')).toBeUndefined();
});

it('keeps no more bytes than it may, however few values that are', () => {
  const recent = new Recent<object>(100, { bytes: 10_000, of: weightOf });
  for (let n = 0; n < 10; n++) recent.set(`${n}`, { text: 'x'.repeat(3000) });
  expect([...recent.keys()].sort()).toEqual(['7', '8', '9']);
  recent.set('too large', { text: 'x'.repeat(20_000) });
  expect(recent.has('too large')).toBe(false);
  expect(recent.calculatedSize).toBeLessThanOrEqual(10_000);
});

it('weighs names, strings and members, at any depth', () => {
  expect(weightOf(null)).toBe(16);
  expect(weightOf({ ab: 'cde', f: 1, g: null })).toBe(16 + 18 + 3 + 17 + 17);
  expect(weightOf([{ a: ['bc'] }])).toBe(16 + 17 + 17 + 17 + 2);
  let deep: object = {};
  for (let n = 0; n < 10_000; n++) deep = { deep };
  expect(weightOf(deep)).toBe(16 + 10_000 * 20);
});

it('counts a large value as a larger one, without looking at all of it', () => {
  const large = 16 * 1024 * 1024;
  expect(weightOf({ text: 'x'.repeat(5_000_000) })).toBe(large);
  const watched = Array.from({ length: 4000 }, () => 'x'.repeat(2000));
  const looked = new Set<string>();
  const members = new Proxy(watched, { get: (target, name: string) => (looked.add(name), target[Number(name)]) });
  expect(weightOf(members)).toBe(large);
  expect(looked.size).toBeLessThan(2200);
});
