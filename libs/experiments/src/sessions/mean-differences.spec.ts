import { differencesOf, verdictOf } from './mean-differences';

const of = (avg: number | null, n = 100, stdev: number | null = 0.5) => ({ key: { n, avg, stdev } });
const found = (before: object, after: object) => differencesOf(JSON.stringify(before), JSON.stringify(after))[0];
const verdict = (before: object, after: object, lower = false) => verdictOf(found(before, after)!, lower);

it('is clear when the difference is larger than what chance makes of so many scores', () => {
  expect([verdict(of(0.5), of(0.65)), verdict(of(0.5), of(0.6))]).toEqual(['better', 'not clear']);
  expect(verdict(of(0.5, 10_000), of(0.52, 10_000))).toBe('better');
  expect([verdict(of(0.5), of(0.35)), verdict(of(0.5), of(0.5))]).toEqual(['worse', 'same']);
});

it('goes by the direction of the key', () => {
  expect([verdict(of(0.5), of(0.9), true), verdict(of(0.9), of(0.5), true)]).toEqual(['worse', 'better']);
});

it('is not clear for a few scores, or without their spread', () => {
  expect(verdict(of(0, 4, 0), of(1, 4, 0))).toBe('not clear');
  expect(verdict(of(0, 100, null), of(1))).toBe('not clear');
  expect(verdict(of(0, 5, 0), of(1, 5, 0))).toBe('better');
});

it('is about keys with a mean on both sides', () => {
  expect(found(of(null), of(1))).toBe(undefined);
  expect(found(of(1), of(null))).toBe(undefined);
  expect(differencesOf(null, JSON.stringify(of(1)))).toEqual([]);
  expect(differencesOf('{}', '{"constructor":{"n":1,"avg":1}}')).toEqual([]);
  expect(found(of(1), of(0.5))).toMatchObject({ key: 'key', difference: -0.5 });
});
