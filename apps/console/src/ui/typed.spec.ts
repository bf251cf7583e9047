import { toldSince } from './typed';

it('keeps what was typed while a text that was told before comes back', () => {
  expect(toldSince(['', 'a', 'ab'], 'a')).toEqual(['a', 'ab']);
  expect(toldSince(['a', 'ab'], 'ab')).toEqual(['ab']);
  expect(toldSince(['', 'a', 'ab'], 'ab')).toEqual(['ab']);
});

it('tells what somebody else has set', () => {
  expect(toldSince(['ab'], '')).toBeUndefined();
  expect(toldSince(['', 'a'], 'other')).toBeUndefined();
});
