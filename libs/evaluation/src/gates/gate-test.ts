import { meanOf, normalTail } from '../compare/comparison';

/** Probability of letting a revision through that breaks a limit, over all looks at its evidence together. */
const ALPHA = 0.05;
/** 80 % quantile of the normal distribution: a difference is called detectable when it is found this often. */
const POWER_Z = 0.8416212335729143;

/** The part of `ALPHA` that one look spends: 1/2, 1/6, 1/12, … of it, which is all of it together. `look` is from 1. */
export function alphaOf(look: number): number {
  return ALPHA / (look * (look + 1));
}

/** One limit for a mean, from values by row. */
interface Evidence {
  readonly values: ArrayLike<number>;
  /** The range in which values can be. */
  readonly range: { readonly least: number; readonly most: number };
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
export function boundsOf({ values, range }: Evidence, alphas: readonly [number, number]): Bounds | undefined {
  const n = values.length;
  const mean = meanOf(values);
  if (n < 2 || mean === null) return undefined;
  const all = [...Array.from(values), range.least, range.most];
  const size = all.length;
  const middle = meanOf(all)!;
  let [squares, cubes] = [0, 0];
  for (const value of all) {
    squares += (value - middle) ** 2;
    cubes += (value - middle) ** 3;
  }
  const spread = Math.sqrt(squares / (size - 1));
  const error = spread / Math.sqrt(size);
  const skew = spread === 0 ? 0 : cubes / size / spread ** 3;
  const [below, above] = alphas.map((alpha) => studentQuantile(alpha, n - 1)) as [number, number];
  return {
    mean,
    lower: middle - error * untransformed(below, skew, size),
    upper: middle + error * untransformed(above, -skew, size),
    detectable: error * (above + POWER_Z),
  };
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
