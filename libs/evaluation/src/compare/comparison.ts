import type { Test } from './compare.answers.schema';

/** 97.5 % quantile of the normal distribution. */
export const Z = 1.959963984540054;
/**
 * Most pairs that are resampled. For more, the distribution of the mean is known without drawing: normal, with the
 * standard error.
 */
const MOST_DRAWN = 4000;
const MOST_DRAWS = 4_000_000;
const MOST_RESAMPLES = 2000;
const SEED = 20_260_101;

/** The mean, or null of nothing. Its sum is compensated (Neumaier), so that the order of the values does not show in it. */
export function meanOf(values: ArrayLike<number>): number | null {
  if (values.length === 0) return null;
  let [sum, lost] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    const next = sum + value;
    lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    sum = next;
  }
  return finite((sum + lost) / values.length);
}

export function quantile(ascending: ArrayLike<number>, fraction: number): number | null {
  if (ascending.length === 0) return null;
  const place = fraction * (ascending.length - 1);
  const below = Math.floor(place);
  const low = ascending[below]!;
  const high = ascending[Math.min(below + 1, ascending.length - 1)]!;
  return finite(low + (high - low) * (place - below));
}

/**
 * The exact sign test: the probability, two-sided, that a fair coin falls at least as unevenly as `better` to `worse`.
 * Pairs without a difference say nothing and are not counted.
 */
export function signTest(better: number, worse: number): number {
  const n = better + worse;
  const few = Math.min(better, worse);
  if (Math.abs(better - worse) <= 1) return 1;
  // The largest term first, the others from it: none overflows, and those too small to matter are left out.
  let term = Math.exp(logBinomial(n, few) - n * Math.LN2);
  let sum = 0;
  for (let k = few; k >= 0 && term > 0; k--) {
    sum += term;
    term *= k / (n - k + 1);
    if (term < sum * 1e-17) break;
  }
  return Math.min(1, 2 * sum);
}

export function passFailInterval(better: number, worse: number, n: number): NonNullable<Test['interval']> {
  const up = (better + 1) / (n + 2);
  const down = (worse + 1) / (n + 2);
  const difference = up - down;
  const margin = Z * Math.sqrt((up + down - difference ** 2) / (n + 2));
  return { low: Math.max(-1, difference - margin), high: Math.min(1, difference + margin) };
}

export function testPassFail(differences: ArrayLike<number>): Test {
  let better = 0;
  let worse = 0;
  for (let i = 0; i < differences.length; i++) {
    if (differences[i]! > 0) better++;
    else if (differences[i]! < 0) worse++;
  }
  const n = differences.length;
  return {
    interval_method: 'bonett-price',
    interval: n === 0 ? null : passFailInterval(better, worse, n),
    method: 'exact sign test',
    p: n === 0 ? null : signTest(better, worse),
    n,
    resamples: null,
  };
}

/**
 * Tests paired differences of numeric scores by a paired bootstrap of their mean. The seed is fixed, and they are sorted:
 * the same differences always give the same answer, in whatever order they come. One pair alone has no interval.
 */
export function testNumeric(given: Float64Array): Test {
  const n = given.length;
  const drawn = n <= MOST_DRAWN;
  const differences = drawn ? given.toSorted() : given;
  const resamples = drawn ? Math.min(MOST_RESAMPLES, Math.floor(MOST_DRAWS / Math.max(1, n))) : null;
  const common = {
    interval_method: drawn ? 'paired bootstrap, percentile' : 'paired bootstrap, normal',
    method: 'paired bootstrap',
    n,
    resamples,
  } as const;
  const observed = meanOf(differences);
  const spread = standardDeviation(differences);
  if (n < 2 || observed === null || spread === null) return { ...common, interval: null, p: null };
  if (resamples === null) {
    const error = spread / Math.sqrt(n);
    const interval = { low: observed - Z * error, high: observed + Z * error };
    return {
      ...common,
      interval,
      p: error === 0 ? Number(observed === 0) : 2 * normalTail(Math.abs(observed) / error),
    };
  }
  const means = resampledMeans(differences, resamples);
  means.sort();
  let notAbove = 0;
  let notBelow = 0;
  for (const mean of means) {
    if (mean <= 0) notAbove++;
    if (mean >= 0) notBelow++;
  }
  // Counting the observed mean as one resample more keeps p above 0.
  const p = Math.min(1, (2 * (Math.min(notAbove, notBelow) + 1)) / (resamples + 1));
  return { ...common, interval: { low: quantile(means, 0.025)!, high: quantile(means, 0.975)! }, p };
}

function resampledMeans(differences: Float64Array, resamples: number): Float64Array {
  const n = differences.length;
  const means = new Float64Array(resamples);
  const { imul } = Math;
  let state = SEED;
  for (let resample = 0; resample < resamples; resample++) {
    let sum = 0;
    for (let i = 0; i < n; i++) {
      // The generator mulberry32, written out: this loop runs millions of times.
      state = (state + 0x6d2b79f5) | 0;
      let bits = imul(state ^ (state >>> 15), 1 | state);
      bits ^= bits + imul(bits ^ (bits >>> 7), 61 | bits);
      sum += differences[((((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296) * n) | 0]!;
    }
    means[resample] = sum / n;
  }
  return means;
}

function standardDeviation(values: Float64Array): number | null {
  const mean = meanOf(values);
  if (mean === null) return null;
  let squares = 0;
  for (const value of values) squares += (value - mean) ** 2;
  return finite(Math.sqrt(squares / (values.length - 1)));
}

/** The upper tail of the normal distribution, with a relative error below 1.2e-7 (Numerical Recipes, erfcc). */
export function normalTail(z: number): number {
  const x = z / Math.SQRT2;
  const t = 1 / (1 + 0.5 * x);
  const series = [
    0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418, 0.37409196, 1.00002368,
    -1.26551223,
  ];
  const polynomial = series.reduce((sum, coefficient) => sum * t + coefficient, 0);
  return 0.5 * t * Math.exp(-x * x + polynomial);
}

function logBinomial(n: number, k: number): number {
  return logFactorial(n) - logFactorial(k) - logFactorial(n - k);
}

/** ln n!, by Stirling's series from 20 on. */
function logFactorial(n: number): number {
  if (n < 20) {
    let product = 1;
    for (let i = 2; i <= n; i++) product *= i;
    return Math.log(product);
  }
  const correction = 1 / (12 * n) - 1 / (360 * n ** 3) + 1 / (1260 * n ** 5);
  return n * Math.log(n) - n + 0.5 * Math.log(2 * Math.PI * n) + correction;
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
