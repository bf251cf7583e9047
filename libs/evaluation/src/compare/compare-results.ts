import { setImmediate } from 'node:timers/promises';
import { type ExperimentScores, type KeyScores, MEASURES, type ScoreTable } from './score-table';
import type {
  Direction,
  KeyComparison,
  KeyResult,
  LatencyResult,
  MeasureComparison,
  Test,
} from './compare.answers.schema';
import { meanOf, quantile, testNumeric, testPassFail } from './comparison';

export const ROW_KINDS = ['better', 'worse', 'same', 'missing', 'extra', 'errored', 'unscored'] as const;
export type RowKind = (typeof ROW_KINDS)[number];

const SIGNIFICANT = 0.05;
/** Error, missing and the like: rows that are not compared. */
const NOT_COMPARED = Number.NaN;

type ColumnOf = (experiment: ExperimentScores) => KeyScores | undefined;
const LOWER = 'lower is better';

/** Compares every experiment with the first one on a key. */
export async function compareKey(table: ScoreTable, key: string, direction: Direction): Promise<KeyComparison> {
  const kind = kindOf(table, key);
  const results = await compareColumns(table, ({ keys }) => keys.get(key), kind, direction);
  const values = table.labelValues.get(key);
  return { key, kind, direction, ...(values && { label_values: Object.fromEntries(values) }), results };
}

/** Compares every experiment with the first one on each measure that any of them has. */
export async function compareMeasures(table: ScoreTable): Promise<MeasureComparison[]> {
  const known = MEASURES.filter((measure) => table.experiments.some(({ measures }) => measures.has(measure)));
  const compared: MeasureComparison[] = [];
  for (const measure of known) {
    const results = await compareColumns(table, ({ measures }) => measures.get(measure), 'numeric', LOWER);
    compared.push({ measure, direction: LOWER, results });
  }
  return compared;
}

/** Gives way to other work in between. */
async function compareColumns(
  table: ScoreTable,
  columnOf: ColumnOf,
  kind: KeyComparison['kind'],
  direction: Direction,
): Promise<KeyResult[]> {
  const [baseline, ...others] = table.experiments;
  const results: KeyResult[] = [];
  if (baseline) results.push(alone(baseline, columnOf));
  for (const other of others) {
    await setImmediate();
    results.push(compareScores(table, other, columnOf, kind, direction));
  }
  return results;
}

export function kindOf({ experiments }: ScoreTable, key: string): KeyComparison['kind'] {
  const columns = experiments.flatMap((experiment) => experiment.keys.get(key) ?? []);
  return columns.every(({ passFail }) => passFail) && wholeMeans(columns) ? 'pass/fail' : 'numeric';
}

export function compareLatency(experiment: ExperimentScores, baseline: ExperimentScores | undefined): LatencyResult {
  const [p50, p99] = [quantile(experiment.latencies, 0.5), quantile(experiment.latencies, 0.99)];
  if (baseline === undefined || baseline === experiment) return { p50, p99 };
  return {
    p50,
    p99,
    p50_difference: less(p50, quantile(baseline.latencies, 0.5)),
    p99_difference: less(p99, quantile(baseline.latencies, 0.99)),
  };
}

/**
 * Largest change for the worse of each row, over all keys and experiments, as a share of the range that the key's
 * scores have: 1 for a failure where the baseline had none, below 0 for rows that only got better, NaN where nothing is
 * compared.
 */
export function regressions(
  table: ScoreTable,
  keys: readonly Pick<KeyComparison, 'key' | 'direction'>[],
): Float64Array {
  const [baseline, ...others] = table.experiments;
  const worst = new Float64Array(table.rows).fill(NOT_COMPARED);
  if (!baseline) return worst;
  for (const other of others) {
    for (let row = 0; row < table.rows; row++) {
      if (baseline.runs[row] && other.failed[row] && !baseline.failed[row]) worst[row] = 1;
    }
    for (const { key, direction } of keys) {
      const [before, after] = [baseline.keys.get(key), other.keys.get(key)];
      if (!before || !after) continue;
      const range = rangeOf(table, key);
      const sign = direction === 'higher is better' ? -1 : 1;
      for (let row = 0; row < table.rows; row++) {
        const change = (sign * (after.means[row]! - before.means[row]!)) / range;
        if (change > worst[row]! || (Number.isNaN(worst[row]!) && !Number.isNaN(change))) worst[row] = change;
      }
    }
  }
  return worst;
}

/** Rows by what `regressions` gives, the worst first, those not compared last; equal ones as they are in the table. */
export function worstFirst({ rows }: ScoreTable, worst: Float64Array): Uint32Array {
  const ranks = worst.map((change) => (Number.isNaN(change) ? -Infinity : change));
  // Of two that are not compared the difference is NaN, which leaves them as they are.
  return Uint32Array.from({ length: rows }, (_, row) => row).sort((a, b) => ranks[b]! - ranks[a]! || a - b);
}

function alone(experiment: ExperimentScores, columnOf: ColumnOf): KeyResult {
  const ofKey = columnOf(experiment);
  const means = scored(ofKey);
  const { runs = 0, scores = 0, spread } = ofKey ?? {};
  return {
    experiment: experiment.id,
    mean: meanOf(means),
    scored: means.length,
    runs,
    ...(scores !== runs && { scores }),
    ...(spread !== undefined && Number.isFinite(spread) && { spread }),
  };
}

function compareScores(
  table: ScoreTable,
  other: ExperimentScores,
  columnOf: ColumnOf,
  kind: KeyComparison['kind'],
  direction: Direction,
): KeyResult {
  const baseline = table.experiments[0]!;
  const [before, after] = [columnOf(baseline)?.means, columnOf(other)?.means];
  const counts = { rows: 0, better: 0, worse: 0, same: 0, missing: 0, extra: 0, errored: 0, unscored: 0 };
  const differences: number[] = [];
  const higher = direction !== LOWER;
  for (let row = 0; row < table.rows; row++) {
    const became = rowKind(baseline, other, [before, after], row, higher);
    if (!became) continue;
    counts.rows++;
    counts[became]++;
    if (became === 'better' || became === 'worse' || became === 'same') differences.push(after![row]! - before![row]!);
  }
  const test = kind === 'pass/fail' ? testPassFail(differences) : testNumeric(Float64Array.from(differences));
  return { ...alone(other, columnOf), difference: meanOf(differences), test, verdict: verdictOf(test, higher), counts };
}

/**
 * Kind of a row in an experiment on a key, given the means by row in the baseline and in the experiment; undefined when
 * neither has the row.
 */
export function rowKind(
  baseline: ExperimentScores,
  other: ExperimentScores,
  [before, after]: readonly [Float64Array | undefined, Float64Array | undefined],
  row: number,
  higher: boolean,
): RowKind | undefined {
  const [had, has] = [baseline.runs[row]! > 0, other.runs[row]! > 0];
  if (!had && !has) return undefined;
  if (!has) return 'missing';
  if (!had) return 'extra';
  const difference = (after?.[row] ?? NaN) - (before?.[row] ?? NaN);
  if (Number.isNaN(difference)) {
    return hasFailed(baseline, row, before) || hasFailed(other, row, after) ? 'errored' : 'unscored';
  }
  if (difference === 0) return 'same';
  return difference > 0 === higher ? 'better' : 'worse';
}

function hasFailed(experiment: ExperimentScores, row: number, means: Float64Array | undefined): boolean {
  return experiment.failed[row]! > 0 && Number.isNaN(means?.[row] ?? NaN);
}

function verdictOf({ interval, p }: Test, higher: boolean): 'better' | 'worse' | 'not clear' {
  if (!interval || p === null || p >= SIGNIFICANT || (interval.low <= 0 && interval.high >= 0)) return 'not clear';
  return interval.low > 0 === higher ? 'better' : 'worse';
}

/** Rows that were repeated have means between 0 and 1, which is no longer pass or fail. */
function wholeMeans(columns: readonly KeyScores[]): boolean {
  return columns.every(({ means }) => means.every((mean) => Number.isNaN(mean) || mean === 0 || mean === 1));
}

export function rangeOf(table: ScoreTable, key: string): number {
  return rangeIn(table.experiments.flatMap((experiment) => experiment.keys.get(key) ?? []));
}

export function rangeIn(columns: readonly Pick<KeyScores, 'least' | 'most'>[]): number {
  const range = Math.max(...columns.map(({ most }) => most)) - Math.min(...columns.map(({ least }) => least));
  return range > 0 && Number.isFinite(range) ? range : 1;
}

function scored(scores: KeyScores | undefined): Float64Array {
  return scores ? scores.means.filter((mean) => !Number.isNaN(mean)) : new Float64Array();
}

function less(value: number | null, other: number | null): number | null {
  return value === null || other === null ? null : value - other;
}
