import { meanOf, Z } from '../compare/comparison';
import { columnOf } from '../compare/score-columns';
import type { ExperimentScores, KeyScores } from '../compare/score-table';

/** Mean of one experiment with its intervals. */
export interface Point {
  readonly mean: number | null;
  readonly scored: number;
  readonly runs: number;
  readonly interval: Interval | null;
  readonly rerun: Interval | null;
  readonly spread: number | null;
}

interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Student's quantiles for one and two degrees of freedom, where the series is not good enough. */
const FEW = [12.706, 4.303];

export const NO_POINT: Point = { mean: null, scored: 0, runs: 0, interval: null, rerun: null, spread: null };

/** The mean over the rows, how precise it is for other rows of their kind, and for the same rows run again. */
export function pointOf({ means: all, runs, spread, noise }: KeyScores, isShare: boolean): Point {
  const means = all.filter((mean) => !Number.isNaN(mean));
  const mean = meanOf(means);
  if (mean === null) return NO_POINT;
  const isPassFail = isShare && means.every((one) => one === 0 || one === 1);
  const interval = isPassFail ? wilson(mean, means.length) : student(means, mean);
  const rerun = noise === undefined ? null : { low: mean - Z * noise, high: mean + Z * noise };
  return { mean, scored: means.length, runs, interval, rerun, spread: spread ?? null };
}

/** The share of failed runs, as a column of zeros and ones. */
export function errorsOf({ runs, failed, runCount }: ExperimentScores): KeyScores {
  const [rows, values] = [new Int32Array(runCount), new Float64Array(runCount)];
  let at = 0;
  for (const [row, count] of runs.entries()) {
    rows.fill(row, at, at + count);
    values.fill(1, at, at + failed[row]!);
    at += count;
  }
  return columnOf(rows, values, runs.length);
}

/** The interval of a share (Wilson), which has a width also when all or none are 1. */
function wilson(share: number, n: number): Interval {
  const [square, whole] = [Z ** 2, n + Z ** 2];
  const [middle, half] = [
    (share * n + square / 2) / whole,
    (Z / whole) * Math.sqrt(n * share * (1 - share) + square / 4),
  ];
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/** The interval of a mean by Student's distribution; null for one value alone. */
function student(values: Float64Array, mean: number): Interval | null {
  const n = values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const half = quantileOf(n - 1) * Math.sqrt(squares / (n - 1) / n);
  return Number.isFinite(half) ? { low: mean - half, high: mean + half } : null;
}

/** Student's quantile for a 95 % interval, by the expansion of Cornish and Fisher. */
function quantileOf(freedom: number): number {
  const z = Z;
  return (
    FEW[freedom - 1] ??
    z +
      (z ** 3 + z) / (4 * freedom) +
      (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2) +
      (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * freedom ** 3)
  );
}
