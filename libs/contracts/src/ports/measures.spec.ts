import { latencyAt, minuteOf, RequestCounter } from './measures';

const MINUTE = Date.parse('2026-01-01T12:00:00Z');

it('counts requests by minute, and forgets what was taken', () => {
  const counter = new RequestCounter();
  counter.count('a', MINUTE + 59_999, false, 20);
  counter.count('a', MINUTE, true, null);
  counter.count('a', MINUTE + 60_000, false, 0);
  counter.count('b', MINUTE, false, 1e12);
  const taken = counter.take();
  expect([...taken.get('a')!].map(([at, { requests, errors }]) => [at - MINUTE, requests, errors])).toEqual([
    [0, 2, 1],
    [60_000, 1, 0],
  ]);
  expect(taken.get('b')!.get(MINUTE)!.latency.at(-1)).toBe(1);
  expect(counter.take().size).toBe(0);
  expect(minuteOf(MINUTE + 59_999)).toBe(MINUTE);
});

it('answers quantiles to an eighth', () => {
  const counter = new RequestCounter();
  for (let ms = 1; ms <= 1000; ms++) counter.count('a', MINUTE, false, ms);
  const { latency } = counter.take().get('a')!.get(MINUTE)!;
  for (const [quantile, exact] of [
    [0.5, 500],
    [0.99, 990],
  ] as const) {
    expect(Math.abs(latencyAt(latency, quantile)! / exact - 1)).toBeLessThan(1 / 8);
  }
  expect(latencyAt([3, 0], 0.5)).toBe(1);
  expect(latencyAt([0, 0], 0.5)).toBeNull();
});
