import { ago, duration, figure, labelCounts, middle, percent, plain, probability, scoredRuns, signed } from './format';

it('shows three significant digits with a true minus', () => {
  expect([0.79843, -0.0131, 12_345.6, 0, 20_040, null, 0.0026].map(figure)).toEqual([
    ...['0.798', '−0.0131', '12,346', '0', '20,040', '–', '0.0026'],
  ]);
  expect([0.044, -0.044, 0].map(signed)).toEqual(['+0.044', '−0.044', '0']);
});

it('shows shares, probabilities and durations', () => {
  expect([0.021, 0, 1, 0.0049].map(percent)).toEqual(['2.1 %', '0 %', '100 %', '0.49 %']);
  expect([0.0001, 0.8969].map(probability)).toEqual(['<0.001', '0.897']);
  expect([0.1234, 0.0213].map(percent)).toEqual(['12.3 %', '2.13 %']);
  expect([0.843, 1.5, 30, 600].map(duration)).toEqual(['843 ms', '1.5 s', '30 s', '10 min']);
  expect([0.00843, 150, 5400, 900_000].map(duration)).toEqual(['8.43 ms', '2.5 min', '1.5 h', '10.4 d']);
});

it('tells how long ago a time was', () => {
  const now = Date.parse('2026-01-02T00:00:00Z');
  const times = ['2026-01-01T23:59:58Z', '2026-01-01T23:59:00Z', '2026-01-01T22:00:00Z', '2025-12-30T00:00:00Z'];
  expect(times.map((time) => ago(time, now))).toEqual(['now', '1 min', '2 h', '3 d']);
});

it('cuts names in their middle and marks what could mislead', () => {
  expect(middle('abcdefghij', 7)).toBe('abc…hij');
  expect(plain('a\u202eb\u0000c')).toBe('a\ufffdb\ufffdc');
  expect(plain('a\u061cb\u200ec\u200fd')).toBe('a\ufffdb\ufffdc\ufffdd');
});

it('says of how many runs a mean is', () => {
  expect([scoredRuns(1, 3), scoredRuns(24, 24, 48), scoredRuns(1, 3, 2), scoredRuns(290, 300)]).toEqual([
    ...[' (1 of 3 scored)', ' (48 scores)', ' (1 of 3 scored, 2 scores)', ''],
  ]);
});

it('lists labels by how often they were given, and ends with … where there are more', () => {
  const values = { neutral: 2, friendly: 6, rude: 1 };
  expect(labelCounts(values, 9, 3)).toBe('friendly 6, neutral 2, rude 1');
  expect(labelCounts(values, 9, 2)).toBe('friendly 6, neutral 2, …');
  expect(labelCounts(values, 12, 3)).toBe('friendly 6, neutral 2, rude 1, …');
});
