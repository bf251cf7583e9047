import { meanOf, normalTail, passFailInterval, quantile, signTest, testNumeric, testPassFail } from './comparison';

/** `better` times 1, `worse` times -1 and `same` times 0. */
const outcomes = (better: number, worse: number, same: number) => [
  ...Array<number>(better).fill(1),
  ...Array<number>(worse).fill(-1),
  ...Array<number>(same).fill(0),
];

const given = <T>(value: T) => ({
  when: <R>(compute: (value: T) => R) => {
    const result = compute(value);
    return { then: (check: (result: R) => void) => check(result) };
  },
});

describe('The exact sign test', () => {
  // Sums of binomial coefficients over powers of two, by hand.
  it.each([
    [0, 0, 1],
    [5, 5, 1],
    [1, 0, 1],
    [8, 2, (2 * (1 + 10 + 45)) / 2 ** 10],
    [1, 9, (2 * (1 + 10)) / 2 ** 10],
    [10, 0, 2 / 2 ** 10],
    [0, 20, 2 / 2 ** 20],
    [15, 5, (2 * (1 + 20 + 190 + 1140 + 4845 + 15504)) / 2 ** 20],
  ])('of %i better and %i worse', (better, worse, p) => {
    given([better, worse] as const)
      .when(([up, down]) => signTest(up, down))
      .then((result) => expect(result).toBeCloseTo(p, 12));
  });

  it('agrees with the normal distribution for many rows, and does not overflow', () => {
    // z with continuity correction: (10200 - 10000 - 0.5) / sqrt(5000) = 2.8214, two-sided 0.00478.
    expect(signTest(10_200, 9_800)).toBeCloseTo(0.00478, 4);
    expect(signTest(1_000_000, 0)).toBe(0);
    expect(signTest(500_001, 500_000)).toBe(1);
  });
});

describe('The interval for pass and fail', () => {
  it('is that of Bonett and Price', () => {
    // (20+1)/(100+2) - (10+1)/(100+2) = 0.098039 ± 1.959964 * sqrt((0.313725 - 0.009612) / 102)
    given({ better: 20, worse: 10, n: 100 })
      .when(({ better, worse, n }) => passFailInterval(better, worse, n))
      .then(({ low, high }) => {
        expect(low).toBeCloseTo(-0.00898, 4);
        expect(high).toBeCloseTo(0.20506, 4);
      });
  });

  it('stays within the possible, and comes with the test and its n', () => {
    given(outcomes(0, 3, 0))
      .when(testPassFail)
      .then((test) => {
        expect(test).toMatchObject({ method: 'exact sign test', interval_method: 'bonett-price', n: 3 });
        expect(test.p).toBeCloseTo(0.25, 12);
        expect(test.interval!.low).toBe(-1);
      });
    expect(testPassFail([])).toMatchObject({ n: 0, p: null, interval: null });
    expect(testPassFail(outcomes(2, 2, 50))).toMatchObject({ n: 54, p: 1 });
  });
});

describe('The paired bootstrap', () => {
  it('gives the quantiles of the exact distribution where that is known', () => {
    // The mean of three draws from {0, 0, 3} is 0, 1, 2 or 3 with probability 8, 12, 6 and 1 of 27.
    given(Float64Array.of(0, 0, 3))
      .when(testNumeric)
      .then((test) => expect(test).toMatchObject({ interval: { low: 0, high: 3 }, n: 3, resamples: 2000 }));
  });

  it('agrees with the normal distribution for many rows', () => {
    // Differences 0.1 ± 0.5 by turns: their mean is 0.1 and its standard error 0.5 / sqrt(n).
    for (const n of [1000, 20_000]) {
      const differences = Float64Array.from({ length: n }, (_, i) => 0.1 + (i % 2 ? 0.5 : -0.5));
      const test = testNumeric(differences);
      const margin = (1.96 * 0.5) / Math.sqrt(n);
      expect(Math.abs(test.interval!.low - (0.1 - margin))).toBeLessThan(margin * 0.15);
      expect(Math.abs(test.interval!.high - (0.1 + margin))).toBeLessThan(margin * 0.15);
      expect(test.p!).toBeLessThan(0.002);
      expect(test.interval_method).toBe(n > 4000 ? 'paired bootstrap, normal' : 'paired bootstrap, percentile');
      expect(test.resamples).toBe(n > 4000 ? null : 2000);
    }
  });

  it('finds nothing where there is nothing, and is the same every time', () => {
    const noise = Float64Array.from({ length: 500 }, (_, i) => Math.sin(i * 12.9898) * (i % 2 ? 1 : -1));
    const test = testNumeric(noise);
    expect(test.p!).toBeGreaterThan(0.05);
    expect(test.interval!.low).toBeLessThan(0);
    expect(test.interval!.high).toBeGreaterThan(0);
    expect(testNumeric(noise)).toEqual(test);
  });

  it('knows what it cannot know', () => {
    expect(testNumeric(Float64Array.of())).toMatchObject({ n: 0, interval: null, p: null });
    expect(testNumeric(Float64Array.of(0.5))).toMatchObject({ n: 1, interval: null, p: null });
    expect(testNumeric(Float64Array.of(1e308, 1e308, 1e308))).toMatchObject({ interval: null, p: null });
    expect(testNumeric(new Float64Array(30))).toMatchObject({ interval: { low: 0, high: 0 }, p: 1 });
    expect(testNumeric(new Float64Array(30).fill(0.25)).interval).toEqual({ low: 0.25, high: 0.25 });
    expect(testNumeric(new Float64Array(10_000))).toMatchObject({ p: 1 });
  });
});

it('computes means, quantiles and tails', () => {
  expect(meanOf([])).toBeNull();
  expect(meanOf([1, 2, 6])).toBe(3);
  expect(quantile([], 0.5)).toBeNull();
  expect(quantile([1, 2, 3, 4], 0.5)).toBe(2.5);
  expect(quantile([7], 0.99)).toBe(7);
  expect(quantile([0, 10], 0.99)).toBeCloseTo(9.9, 12);
  expect(normalTail(1.959963984540054)).toBeCloseTo(0.025, 7);
  expect(normalTail(0)).toBeCloseTo(0.5, 6);
});
