import { meanOf, normalTail } from '../compare/comparison';

/** Probability of letting a revision through that breaks a limit, over all looks at its evidence together. */
const ALPHA = 0.05;
/**
 * 85 % quantile of the normal distribution: a difference is called detectable when 80 % of looks find it, some of which see
 * a smaller spread than others.
 */
const POWER_Z = 1.0364333894937898;

/** The part of `ALPHA` that one look spends: 1/2, 1/6, 1/12, … of it, which is all of it together. `look` is from 1. */
export function alphaOf(look: number): number {
  return ALPHA / (look * (look + 1));
}

/** One limit for a mean, from values by row. */
interface Evidence {
  readonly values: ArrayLike<number>;
  /** The range in which values can be. */
  readonly range: { readonly least: number; readonly most: number };
  /** The least mean that is allowed. */
  readonly threshold: number;
}

interface Bounds {
  readonly mean: number;
  /** The mean of all such rows is not lower, and not higher, except with the probabilities that were given. */
  readonly lower: number;
  readonly upper: number;
  /** Distance from the limit at which a mean that breaks it is refused by 80 % of such looks. */
  readonly detectable: number;
}

/**
 * Bounds of a mean, each one-sided; undefined for fewer than two values. Two values at the ends of the range are added, as
 * Bonett and Price do for pairs that pass or fail, so that values which are all alike do not look exact. Student's
 * quantile is corrected for skewness by Hall's transformation. `alphas`: probabilities that the lower bound, and the upper
 * one, are wrong.
 */
export function boundsOf(
  { values, range, threshold }: Evidence,
  alphas: readonly [number, number],
): Bounds | undefined {
  const n = values.length;
  const mean = meanOf(values);
  if (n < 2 || mean === null) return undefined;
  let [squares, cubes] = [0, 0];
  for (const value of Array.from(values)) {
    squares += (value - mean) ** 2;
    cubes += (value - mean) ** 3;
  }
  const [below, above] = alphas.map((alpha) => studentQuantile(alpha, n - 1)) as [number, number];
  /** The mean, its standard error and the skewness with the two added values, if the mean of the others were this one. */
  const withEnds = (around: number) => {
    const size = n + 2;
    const ends = [range.least, range.most];
    const middle = (n * around + range.least + range.most) / size;
    const shift = around - middle;
    const sum = (power: number) => ends.reduce((total, end) => total + (end - middle) ** power, n * shift ** power);
    const spread = Math.sqrt((squares + sum(2)) / (size - 1));
    const skew = spread === 0 ? 0 : (cubes + 3 * shift * squares + sum(3)) / size / spread ** 3;
    return { middle, error: spread / Math.sqrt(size), skew, size };
  };
  const upperOf = ({ middle, error, skew, size }: ReturnType<typeof withEnds>) =>
    middle + error * untransformed(above, -skew, size);
  const found = withEnds(mean);
  const detectable = leastOf(range.most - range.least, (distance) => {
    const there = withEnds(threshold - distance);
    return upperOf(there) + POWER_Z * there.error < threshold;
  });
  const { middle, error, skew, size } = found;
  return { mean, lower: middle - error * untransformed(below, skew, size), upper: upperOf(found), detectable };
}

/** The least number up to `most` for which a condition holds, which holds for all greater ones; `most` without any. */
function leastOf(most: number, isTrue: (value: number) => boolean): number {
  let [low, high] = [0, most];
  for (let step = 0; step < 40; step++) {
    const middle = (low + high) / 2;
    if (isTrue(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** Hall's transformation, inverted: the quantile of a studentized mean of skewed values. */
function untransformed(quantile: number, skew: number, n: number): number {
  const a = skew / Math.sqrt(n);
  if (Math.abs(a) < 1e-9) return quantile;
  return (3 / a) * (Math.cbrt(1 + a * (quantile - a / 6)) - 1);
}

/** The upper quantile of Student's distribution, by the expansion of Cornish and Fisher. */
function studentQuantile(tail: number, freedom: number): number {
  const z = normalQuantile(tail);
  return (
    z +
    (z ** 3 + z) / (4 * freedom) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * freedom ** 3)
  );
}

/** The value that a normal variable exceeds with this probability. */
function normalQuantile(tail: number): number {
  let [low, high] = [0, 10];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (normalTail(middle) > tail) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
