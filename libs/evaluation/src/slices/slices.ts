import { setImmediate } from 'node:timers/promises';
import { meanOf, testNumeric, testPassFail } from '../compare/comparison';
import type { Direction } from '../compare/compare.answers.schema';
import { kindOf, rangeIn, rangeOf } from '../compare/compare-results';
import type { Measure as RunMeasure, ScoreTable } from '../compare/score-table';
import { type Slice, sliceText } from '../compare/slice';
import { flipTest } from './flip-test';
import type { ComparisonSlice } from './slices.answers.schema';

/** Rows of the table, ascending, that one value of a member has. */
export interface Group extends Slice {
  readonly rows: Int32Array;
}

/** Scores, failures or a measure of the runs of the baseline and of one candidate by row: NaN where there are none. */
interface Measure {
  readonly experiment: string;
  readonly measure: 'score' | 'errors' | RunMeasure;
  readonly key: string | null;
  readonly direction: Direction;
  readonly passFail: boolean;
  /** Difference that counts as 1 when slices are ordered. */
  readonly range: number;
  readonly before: Float64Array;
  readonly after: Float64Array;
}

interface Tested {
  readonly group: Group;
  readonly of: Measure;
  readonly p: number;
  /** False when so few rows differ that no outcome could be clear. */
  readonly counts: boolean;
}

interface Directed {
  readonly key: string;
  readonly direction: Direction;
}

/** Fewer pairs cannot be told from chance: the smallest `p` of five is 0.06. */
export const LEAST_PAIRS = 6;
const SIGNIFICANT = 0.05;

/**
 * Compares every candidate with the first experiment, by score key, by failed runs and by the `chosen` measures of runs,
 * within each group of rows. Each gets the paired permutation test, and its `p` is corrected for all that were made (Holm).
 * More measures make each verdict harder to reach, so that only those are tested that somebody asks for. The clear losses come first, the
 * largest (difference × rows) before the others, then the clear gains, then the rest.
 */
export async function compareSlices(
  table: ScoreTable,
  keys: readonly Directed[],
  groups: readonly Group[],
  chosen: readonly RunMeasure[] = [],
) {
  const tested: Tested[] = [];
  for (const of of measuresOf(table, keys, chosen)) {
    await setImmediate();
    for (const group of groups) {
      const differences = differencesIn(of, group.rows);
      if (differences.length >= LEAST_PAIRS) {
        const differing = count(differences, (one) => one !== 0);
        tested.push({ group, of, p: flipTest(differences), counts: differing >= LEAST_PAIRS });
      }
    }
  }
  const slices = holm(tested).map(([one, adjusted]) => sliceOf(one, adjusted));
  return { tests: count(tested, ({ counts }) => counts), slices: slices.toSorted(byWeight).map(({ slice }) => slice) };
}

function measuresOf(table: ScoreTable, keys: readonly Directed[], chosen: readonly RunMeasure[]): Measure[] {
  const [baseline, ...others] = table.experiments;
  return others.flatMap((other) => {
    const experiment = other.id;
    const scores = keys.flatMap(({ key, direction }): Measure[] => {
      const [before, after] = [baseline!.keys.get(key)?.means, other.keys.get(key)?.means];
      if (!before || !after) return [];
      const passFail = kindOf(table, key) === 'pass/fail';
      return [{ experiment, measure: 'score', key, direction, passFail, range: rangeOf(table, key), before, after }];
    });
    const [before, after] = [baseline!, other].map(({ runs, failed }) =>
      Float64Array.from(runs, (count, row) => (count === 0 ? NaN : failed[row]! / count)),
    );
    const repeated = [baseline!, other].some(({ runs }) => runs.some((count) => count > 1));
    const direction = 'lower is better';
    const used = chosen.flatMap((measure): Measure[] => {
      const [before, after] = [baseline!, other].map(({ measures }) => measures.get(measure)?.means);
      if (!before || !after) return [];
      const columns = table.experiments.flatMap(({ measures }) => measures.get(measure) ?? []);
      const range = rangeIn(columns);
      return [{ experiment, measure, key: null, direction, passFail: false, range, before, after }];
    });
    const failed = { measure: 'errors', key: null, direction, passFail: !repeated, range: 1 } as const;
    return [...scores, { experiment, ...failed, before: before!, after: after! }, ...used];
  });
}

function differencesIn({ before, after }: Measure, rows: Int32Array): number[] {
  const differences: number[] = [];
  for (const row of rows) {
    const difference = after[row]! - before[row]!;
    // Of numbers that are too far apart there is no difference.
    if (Number.isFinite(difference)) differences.push(difference);
  }
  return differences;
}

/**
 * Each test with its `p` after the step-down correction of Holm for the number of them. A test that no outcome could make
 * clear is not counted: the number of rows that differ says so before the test, which takes it as given (Tarone).
 */
function holm(tested: readonly Tested[]): (readonly [Tested, number])[] {
  const counted = tested.filter(({ counts }) => counts).toSorted((a, b) => a.p - b.p);
  let least = 0;
  const adjusted = counted.map((one, place) => {
    least = Math.max(least, Math.min(1, one.p * (counted.length - place)));
    return [one, least] as const;
  });
  return [...adjusted, ...tested.filter(({ counts }) => !counts).map((one) => [one, 1] as const)];
}

function sliceOf({ group, of, p }: Tested, adjusted: number) {
  const { experiment, measure, key, direction, passFail, range, before, after } = of;
  const differences = differencesIn(of, group.rows);
  const difference = meanOf(differences);
  const higher = direction === 'higher is better';
  const isClear = adjusted < SIGNIFICANT && difference !== null && difference !== 0;
  const verdict: ComparisonSlice['verdict'] = !isClear ? 'not clear' : difference > 0 === higher ? 'better' : 'worse';
  const [up, down] = [count(differences, (one) => one > 0), count(differences, (one) => one < 0)];
  const paired = group.rows.filter((row) => Number.isFinite(after[row]! - before[row]!));
  const { by, value } = group;
  const slice = {
    ...{ by, value, slice: sliceText(group), experiment, measure, key, direction, rows: differences.length },
    baseline_mean: meanOf(Float64Array.from(paired, (row) => before[row]!)),
    mean: meanOf(Float64Array.from(paired, (row) => after[row]!)),
    difference,
    ...{ p, adjusted_p: adjusted },
    verdict,
    counts: { better: higher ? up : down, worse: higher ? down : up, same: differences.length - up - down },
  };
  const order = { worse: 0, better: 1, 'not clear': 2 }[verdict];
  // Drawn only for what is shown, and from the rows again: thousands of slices do not keep their differences.
  const interval = () => {
    const drawn = differencesIn(of, group.rows);
    return (passFail ? testPassFail(drawn) : testNumeric(Float64Array.from(drawn))).interval;
  };
  return {
    slice: { slice, interval },
    order,
    weight: (Math.abs(difference ?? 0) / range) * differences.length,
    adjusted,
  };
}

type Weighed = ReturnType<typeof sliceOf>;

function byWeight(a: Weighed, b: Weighed): number {
  if (a.order !== b.order) return a.order - b.order;
  return a.order === 2 ? a.adjusted - b.adjusted || b.weight - a.weight : b.weight - a.weight;
}

export function shownSlice({ slice, interval }: Weighed['slice']): ComparisonSlice {
  return { ...slice, interval: interval() };
}

function count<T>(items: readonly T[], test: (one: T) => boolean): number {
  return items.reduce((sum, one) => sum + Number(test(one)), 0);
}
