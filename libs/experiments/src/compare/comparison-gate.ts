import type { KeyComparison, KeyResult } from './compare-results';
import {
  type ExperimentScores as Column,
  FURTHER,
  type KeyValues,
  type ScoreTable,
  VALUE_CHARACTERS,
} from './compare-scores.queries';
import type { Comparison } from './compare.service';
import type { ExperimentScores } from './experiment-scores';

/** Limits for one key; a mean or a drop is in the units of its scores. */
interface KeyLimits {
  readonly min_mean?: number;
  readonly max_mean?: number;
  /** Largest difference by which the mean may be worse than the baseline's, in the direction of the key. */
  readonly max_drop?: number;
  /** Number of rows that may be worse. */
  readonly max_worse?: number;
  /** Share of the rows scored in the baseline that must be scored; then those without a score leave nothing undecided. */
  readonly min_scored?: number;
}

/**
 * Limits that an experiment has to keep to. Absent limits are not checked, but significant regressions fail unless
 * allowed.
 */
interface Limits {
  readonly keys: Readonly<Record<string, KeyLimits>>;
  readonly allow_significant_regressions: boolean;
  readonly max_error_rate?: number;
  readonly max_missing?: number;
  /** Seconds more than the baseline. */
  readonly max_latency_p50_increase?: number;
  readonly max_latency_p99_increase?: number;
}

/** The reasons against one experiment, a sentence each. */
class Findings {
  /** Limits that are broken. */
  readonly failures: string[] = [];
  /** Evidence that there is not. */
  readonly gaps: string[] = [];
  /** Something was held against the baseline. */
  compared = false;

  constructor(private readonly name: string) {}

  fail(sentence: string): void {
    this.failures.push(`${this.name}: ${sentence}`);
  }

  gap(sentence: string): void {
    this.gaps.push(`${this.name}: ${sentence}`);
  }

  /** Checks a value that may not be above, or below, a limit. */
  limit(what: string, value: number | null | undefined, { least, most }: { least?: number; most?: number }): void {
    if ((least ?? most) === undefined) return;
    if (value === null || value === undefined) this.gap(`${what} is not known.`);
    else if (least !== undefined && value < least) this.fail(`${what} is ${shown(value)}, less than ${least}.`);
    else if (most !== undefined && value > most) this.fail(`${what} is ${shown(value)}, more than ${most}.`);
  }
}

/** Sentences in an answer: there can be several for each key and experiment. */
const MOST_REASONS = 500;

/**
 * Holds each experiment against the baseline. It fails when what was compared breaks a limit; otherwise it is undecided when
 * a row that the baseline has scored has no score, when a key could not be read or compared, or when nothing was compared.
 */
export function judge(comparison: Comparison, limits: Limits) {
  const { table } = comparison;
  const found = table.experiments.slice(1).map((_, index) => findingsOf(comparison, index + 1, limits));
  const failures = found.flatMap(({ failures }) => failures);
  const gaps = found.flatMap(({ gaps }) => gaps);
  if (found.length === 0) gaps.push('There is no experiment beside the baseline.');
  for (const key of table.unread) gaps.push(`${key} could not be read: there are too many keys for so many rows.`);
  const outcome = failures.length > 0 ? 'fail' : gaps.length > 0 ? 'undecided' : 'pass';
  const reasons = [...failures, ...gaps];
  if (reasons.length > MOST_REASONS) {
    const further = reasons.splice(MOST_REASONS - 1).length;
    reasons.push(`${further} further reasons are left out.`);
  }
  return { outcome, pass: outcome === 'pass', reasons } as const;
}

function findingsOf(comparison: Comparison, place: number, limits: Limits): Findings {
  const { table, keys, categories, experimentScores, latencies } = comparison;
  const [baseline, candidate] = [table.experiments[0]!, table.experiments[place]!];
  const findings = new Findings(candidate.name);
  const limitsOf = (key: string) => (Object.hasOwn(limits.keys, key) ? limits.keys[key]! : {});
  for (const one of keys) {
    const result = one.results[place]!;
    if (result.verdict === 'worse' && !limits.allow_significant_regressions) findings.fail(significant(one, result));
    checkKey(findings, one, result, limitsOf(one.key));
  }
  const scored = new Set([...keys, ...categories].map(({ key }) => key));
  for (const key of scored) checkCoverage(findings, table, place, key, limitsOf(key));
  for (const { key } of categories) {
    const given = limitsOf(key);
    checkLabels(findings, table, place, key, given);
    const { min_mean, max_mean, max_drop, max_worse } = given;
    const limited = [min_mean, max_mean, max_drop, max_worse].some((limit) => limit !== undefined);
    if (limited && !keys.some((one) => one.key === key)) {
      findings.gap(`${key} has labels and no scores, so its limits could not be checked.`);
    }
  }
  for (const one of experimentScores) checkWhole(findings, one, place, limitsOf(one.key), scored.has(one.key));
  const known = new Set([...scored, ...experimentScores.map(({ key }) => key), ...table.unread]);
  for (const key of Object.keys(limits.keys)) if (!known.has(key)) findings.gap(`there are no scores of ${key}.`);
  let [missing, common] = [0, 0];
  for (const [row, count] of baseline.runs.entries()) {
    if (count > 0 && candidate.runs[row] === 0) missing++;
    else if (count > 0) common++;
  }
  const { runCount, errorCount } = candidate;
  findings.limit('the error rate', runCount ? errorCount / runCount : null, { most: limits.max_error_rate });
  findings.limit('the number of missing rows', missing, { most: limits.max_missing });
  const { p50_difference: p50, p99_difference: p99 } = latencies[place]!;
  findings.limit('the increase of the median latency', p50, { most: limits.max_latency_p50_increase });
  findings.limit('the increase of the 99th percentile of latency', p99, { most: limits.max_latency_p99_increase });
  const { max_error_rate, max_missing, max_latency_p50_increase, max_latency_p99_increase } = limits;
  const ofRuns = [max_error_rate, max_missing, max_latency_p50_increase, max_latency_p99_increase];
  // Limits of runs can be checked without a score, but not without a row.
  const checked = findings.compared || (common > 0 && ofRuns.some((limit) => limit !== undefined));
  if (!checked) findings.gap(common > 0 ? 'nothing could be compared.' : 'no row is in both experiments.');
  return findings;
}

function checkKey(findings: Findings, { key, direction }: KeyComparison, result: KeyResult, limits: KeyLimits): void {
  findings.limit(`the mean of ${key}`, result.mean, { least: limits.min_mean, most: limits.max_mean });
  const { difference = null } = result;
  if (difference === null) {
    if ((limits.max_drop ?? limits.max_worse) === undefined) return;
    return findings.gap(`${key} cannot be compared, no row has a score in both experiments.`);
  }
  findings.compared = true;
  const drop = difference * (direction === 'higher is better' ? -1 : 1);
  if (limits.max_drop !== undefined && drop > limits.max_drop) {
    findings.fail(`${key} is worse by ${shown(drop)}, more than ${limits.max_drop}.`);
  }
  const worse = result.counts?.worse ?? 0;
  if (limits.max_worse !== undefined && worse > limits.max_worse) {
    findings.fail(`${worse} rows are worse on ${key}, more than ${limits.max_worse}.`);
  }
}

/** A row is scored by a number or a label; one that the baseline has scored must be scored alike to be compared. */
function checkCoverage(
  findings: Findings,
  table: ScoreTable,
  place: number,
  key: string,
  { min_scored: least, min_mean, max_mean }: KeyLimits,
): void {
  const [baseline, candidate] = [columnOf(table.experiments[0]!, key), columnOf(table.experiments[place]!, key)];
  let [before, both, rows, after] = [0, 0, 0, 0];
  for (let row = 0; row < table.rows; row++) {
    if (table.experiments[place]!.runs[row]! > 0) rows++;
    const [had, has] = [baseline(row), candidate(row)];
    if (has.number || has.label) after++;
    if (!had.number && !had.label) continue;
    before++;
    if ((!had.number || has.number) && (!had.label || has.label)) both++;
  }
  if (least !== undefined) {
    const [part, whole] = before > 0 ? [both, before] : [after, rows];
    if (whole === 0) findings.gap(`${key} has no row that could be scored.`);
    else if (part / whole < least) {
      findings.fail(`${part} of ${whole} rows are scored on ${key}, less than ${shown(least * 100)} %.`);
    }
  } else if (before > both) {
    findings.gap(`${before - both} of ${before} rows could not be compared on ${key}: they have no score of it.`);
  } else if (before === 0 && after > 0 && (min_mean ?? max_mean) === undefined) {
    findings.gap(`${key} could not be compared: the baseline has no score of it.`);
  }
}

function columnOf({ keys, categories }: Column, key: string) {
  const [means, codes] = [keys.get(key)?.means, categories.get(key)?.codes];
  return (row: number) => ({ number: !Number.isNaN(means?.[row] ?? NaN), label: (codes?.[row] ?? -1) >= 0 });
}

/** Labels have no order: rows whose label stays as it was are the same, others are neither better nor worse. */
function checkLabels(
  findings: Findings,
  { rows, experiments }: ScoreTable,
  place: number,
  key: string,
  { min_scored }: KeyLimits,
): void {
  const [before, after] = [experiments[0]!.categories.get(key), experiments[place]!.categories.get(key)];
  if (!before || !after) return;
  let [both, changed] = [0, 0];
  for (let row = 0; row < rows; row++) {
    if (before.codes[row]! < 0 || after.codes[row]! < 0) continue;
    both++;
    const [old, now] = [labelOf(before, row), labelOf(after, row)];
    if (old === undefined || old !== now) changed++;
  }
  if (both > changed) findings.compared = true;
  if (changed > 0 && min_scored === undefined) {
    findings.gap(`${changed} of ${both} rows have other labels of ${key}, which have no order.`);
  }
}

/** Undefined where it is not known as a whole, or where the runs of the row have several. */
function labelOf({ labels, codes, mixed }: KeyValues, row: number): string | undefined {
  const label = labels[codes[row]!]!;
  return mixed.has(row) || label === FURTHER || label.length >= VALUE_CHARACTERS - 2 ? undefined : label;
}

/** A limit holds for the score of the whole experiment as for the mean of rows; both are checked where there are both. */
function checkWhole(
  findings: Findings,
  { key, direction, results }: ExperimentScores,
  place: number,
  { min_mean: least, max_mean: most, max_drop: mostDrop, max_worse: mostWorse, min_scored: leastScored }: KeyLimits,
  ofRows: boolean,
): void {
  const [before, after] = [results[0]!, results[place]!];
  const what = `${key} of the whole experiment`;
  const has = (one: typeof before) => one.value !== null || Object.keys(one.values).length > 0;
  findings.limit(what, after.value, { least, most });
  if (mostWorse !== undefined && !ofRows) findings.gap(`${what} has no rows that can be worse.`);
  const { difference = null } = after;
  if (difference !== null) {
    findings.compared = true;
    const drop = difference * (direction === 'higher is better' ? -1 : 1);
    if (mostDrop !== undefined && drop > mostDrop) {
      findings.fail(`${what} is worse by ${shown(drop)}, more than ${mostDrop}.`);
    }
  } else if (mostDrop !== undefined) findings.gap(`${what} cannot be compared, one of the two has no score.`);
  if (leastScored !== undefined && !ofRows) {
    if (!has(after) && leastScored > 0) findings.fail(`${what} has no score.`);
  } else if (leastScored === undefined && mostDrop === undefined && difference === null) {
    const labels = JSON.stringify(Object.entries(after.values).sort());
    const alike =
      has(before) && before.value === null && JSON.stringify(Object.entries(before.values).sort()) === labels;
    if (alike) findings.compared = true;
    else if (has(before) || (has(after) && (least ?? most) === undefined)) {
      findings.gap(`${what} cannot be compared, one of the two has no score or another label.`);
    }
  }
}

function significant({ key }: KeyComparison, { difference, test }: KeyResult): string {
  return `${key} is significantly worse (difference ${shown(difference ?? 0)}, p ${shown(test?.p ?? 0)}, n ${test?.n ?? 0}).`;
}

function shown(value: number): string {
  return String(Number(value.toPrecision(4)));
}
