import type { Direction, ExperimentScores, KeyComparison, KeyResult } from './compare.answers.schema';
import type { Comparison } from './comparisons.service';
import { baselineAnd, checkLabels } from './gate-labels';
import { Findings, type KeyLimits, type Limits, shown } from './gate-limits';
import { checkMeasures } from './gate-measures';
import { hasLabel } from './labels';
import { type ExperimentScores as Column, MEASURES, type ScoreTable } from './score-table';

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
  const byKey = new Map<string, KeyLimits>(Object.entries(limits.keys));
  const limitsOf = (key: string) => byKey.get(key) ?? {};
  for (const one of keys) {
    const result = one.results[place]!;
    if (result.verdict === 'worse' && !limits.allow_significant_regressions) findings.fail(significant(one, result));
    checkKey(findings, one, result, limitsOf(one.key));
  }
  const structured = table.experiments.flatMap(({ structures }) => [...structures.keys()]);
  const scored = new Set([...[...keys, ...categories].map(({ key }) => key), ...structured]);
  for (const key of scored) checkCoverage(findings, table, place, key, limitsOf(key));
  for (const one of categories) {
    const given = limitsOf(one.key);
    checkLabels(findings, table, one, place, given);
    const { min_mean, max_mean, max_drop, max_worse } = given;
    const limited = [min_mean, max_mean, max_drop, max_worse].some((limit) => limit !== undefined);
    if (limited && !keys.some(({ key }) => key === one.key)) {
      findings.gap(`${one.key} has labels and no scores, so its limits could not be checked.`);
    }
  }
  const labelled = new Set(categories.map(({ key }) => key));
  for (const [key, { labels = {} }] of Object.entries(limits.keys)) {
    const unread = labelled.has(key) || table.unread.includes(key);
    if (!unread && Object.keys(labels).length > 0) findings.gap(`there are no labels of ${key}.`);
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
  checkMeasures(findings, comparison, place, limits);
  const { max_error_rate, max_missing, max_latency_p50_increase, max_latency_p99_increase, measures } = limits;
  const ofRuns = [max_error_rate, max_missing, max_latency_p50_increase, max_latency_p99_increase];
  ofRuns.push(...MEASURES.flatMap((measure) => Object.values(measures[measure] ?? {})));
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
  checkDrop(findings, key, difference, direction, limits.max_drop);
  const worse = result.counts?.worse ?? 0;
  if (limits.max_worse !== undefined && worse > limits.max_worse) {
    findings.fail(`${worse} rows are worse on ${key}, more than ${limits.max_worse}.`);
  }
}

function checkDrop(findings: Findings, what: string, difference: number, direction: Direction, most?: number): void {
  findings.compared = true;
  const drop = difference * (direction === 'higher is better' ? -1 : 1);
  if (most !== undefined && drop > most) findings.fail(`${what} is worse by ${shown(drop)}, more than ${most}.`);
}

/**
 * A row is scored by a number or a label; one that the baseline has scored must be scored alike to be compared, unless its
 * labels have values. Objects and lists are no score.
 */
function checkCoverage(
  findings: Findings,
  table: ScoreTable,
  place: number,
  key: string,
  { min_scored: least, min_mean, max_mean, labels = {} }: KeyLimits,
): void {
  const limited = [
    min_mean,
    max_mean,
    ...Object.values(labels).flatMap(({ min_share, max_share }) => [min_share, max_share]),
  ];
  const [baseline, candidate] = [columnOf(table.experiments[0]!, key), columnOf(table.experiments[place]!, key)];
  const valued = table.labelValues.has(key);
  let [before, both, rows, after] = [0, 0, 0, 0];
  for (let row = 0; row < table.rows; row++) {
    if (table.experiments[place]!.runs[row]! > 0) rows++;
    const [had, has] = [baseline(row), candidate(row)];
    if (has.number || has.label) after++;
    if (!had.number && !had.label) continue;
    before++;
    const alike = valued ? has.number || has.label : (!had.number || has.number) && (!had.label || has.label);
    if (alike) both++;
  }
  for (const [index, of] of least === undefined ? baselineAnd(place) : []) {
    const { structures, runs } = table.experiments[index]!;
    const count = structures.get(key)?.size ?? 0;
    const all = runs.reduce((sum, one) => sum + Number(one > 0), 0);
    if (count > 0)
      findings.gap(`${count} of ${all} rows${of} have objects or lists as values of ${key}, which cannot be compared.`);
  }
  if (least !== undefined) {
    const [part, whole] = before > 0 ? [both, before] : [after, rows];
    if (whole === 0) findings.gap(`${key} has no row that could be scored.`);
    else if (part / whole < least) {
      findings.fail(`${part} of ${whole} rows are scored on ${key}, less than ${shown(least * 100)} %.`);
    }
  } else if (before > both) {
    findings.gap(`${before - both} of ${before} rows could not be compared on ${key}: they have no score of it.`);
  } else if (before === 0 && after > 0 && limited.every((limit) => limit === undefined)) {
    findings.gap(`${key} could not be compared: the baseline has no score of it.`);
  }
}

function columnOf({ keys, labels }: Column, key: string) {
  const [means, column] = [keys.get(key)?.means, labels.get(key)];
  return (row: number) => ({ number: !Number.isNaN(means?.[row] ?? NaN), label: hasLabel(column, row) });
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
  const has = (one: typeof before) => one.value !== null || Object.keys(one.values).length > 0 || one.structured;
  findings.limit(what, after.value, { least, most });
  if (mostWorse !== undefined && !ofRows) findings.gap(`${what} has no rows that can be worse.`);
  const { difference = null } = after;
  if (difference !== null) checkDrop(findings, what, difference, direction, mostDrop);
  else if (mostDrop !== undefined) findings.gap(`${what} cannot be compared, one of the two has no score.`);
  const enough = leastScored !== undefined && (leastScored === 0 || !ofRows);
  if (enough && !has(after)) {
    if (leastScored > 0) findings.fail(`${what} has no score.`);
  } else if (before.structured || after.structured) {
    findings.gap(`${what} has an object, a list or a long text as its value, which cannot be compared.`);
  } else if (mostDrop === undefined && difference === null) {
    const labelsOf = ({ values }: typeof before) => JSON.stringify(Object.entries(values).sort());
    const alike = has(before) && before.value === null && labelsOf(before) === labelsOf(after);
    const letIn = !has(before) && (least ?? most ?? leastScored) !== undefined;
    if (alike) findings.compared = true;
    else if (has(before) || (has(after) && !letIn)) {
      findings.gap(`${what} cannot be compared, one of the two has no score or another label.`);
    }
  }
}

function significant({ key }: KeyComparison, { difference, test }: KeyResult): string {
  return `${key} is significantly worse (difference ${shown(difference ?? 0)}, p ${shown(test?.p ?? 0)}, n ${test?.n ?? 0}).`;
}
