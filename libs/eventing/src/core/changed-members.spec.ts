import { changedMembers } from '..';

it.each([
  ['what differs', { a: 1, b: 2 }, { a: 1, b: 3 }, { b: 3 }],
  ['nothing where all is the same', { a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2 }] }, undefined],
  ['nothing that is not sent', { a: 1 }, { a: undefined }, undefined],
  ['null, which is a value', { a: 1 }, { a: null }, { a: null }],
  ['what was not there', {}, { a: 1 }, { a: 1 }],
  ['no other order of members', { a: { b: 1, c: 2 } }, { a: { c: 2, b: 1 } }, undefined],
  ['another order of items', { a: [1, 2] }, { a: [2, 1] }, { a: [2, 1] }],
])('tells %s', (_, current: object, wanted: object, changed) => {
  expect(changedMembers(current, wanted)).toEqual(changed);
});

it('lets the caller say what is equal', () => {
  const ignoringCase = (a: unknown, b: unknown) => String(a).toLowerCase() === String(b).toLowerCase();
  expect(changedMembers({ a: 'x', b: 'y' }, { a: 'X', b: 'Z' }, ignoringCase)).toEqual({ b: 'Z' });
});
