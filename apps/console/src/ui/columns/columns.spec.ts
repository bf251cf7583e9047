import { moved, parseArrangement, pinned, printArrangement, toggled } from './columns';

const text = (of: Parameters<typeof printArrangement>[0]) => printArrangement(of);
const read = (of: string) => parseArrangement(of)!;

it('is a part of the address, whatever the columns are called', () => {
  const arrangement = { shown: ['a,b', 'c|d', '100 %', 'p50'], pinned: 2 };
  expect(read(text(arrangement))).toEqual(arrangement);
  expect(read('p50,errors')).toEqual({ shown: ['p50', 'errors'], pinned: 0 });
  expect(read('a,a|b,a,%')).toEqual({ shown: ['a', 'b', '%'], pinned: 1 });
  expect([parseArrangement(undefined), parseArrangement('')]).toEqual([undefined, undefined]);
  expect(read('|')).toEqual({ shown: [], pinned: 0 });
});

it('shows, hides, pins and moves columns', () => {
  const first = read('a|b,c');
  expect(text(toggled(first, 'd'))).toBe('a|b,c,d');
  expect([text(toggled(first, 'a')), text(toggled(first, 'c'))]).toEqual(['|b,c', 'a|b']);
  expect([text(pinned(first, 'c')), text(pinned(first, 'a'))]).toEqual(['a,c|b', '|a,b,c']);
  expect([text(moved(first, 'c', -1)), text(moved(first, 'b', 1))]).toEqual(['a|c,b', 'a|c,b']);
  expect(['a', 'b', 'c'].map((id) => text(moved(first, id, id === 'b' ? -1 : 1)))).toEqual(Array(3).fill('a|b,c'));
});
