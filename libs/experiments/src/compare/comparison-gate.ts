import type { KeyComparison, KeyResult, LatencyResult } from './compare-results';
import type { ExperimentScores } from './experiment-scores';

/** Limits for one key; a mean or a drop is in the units of its scores. */
interface KeyLimits {
  readonly min_mean?: number;
  readonly max_mean?: number;
  /** How much worse than the baseline's the mean may be, in the direction of the key. */
  readonly max_drop?: number;
  /** How many rows may be worse. */
  readonly max_worse?: number;
}

/** What an experiment has to keep to. What is left out is not checked, but significant regressions fail unless allowed. */
interface Limits {
  readonly keys: Readonly<Record<string, KeyLimits>>;
  readonly allow_significant_regressions: boolean;
  readonly max_error_rate?: number;
  readonly max_missing?: number;
  /** Seconds more than the baseline. */
  readonly max_latency_p50_increase?: number;
  readonly max_latency_p99_increase?: number;
}

/** What is known of one experiment beside the baseline. */
interface Candidate {
  readonly id: string;
  readonly name: string;
  readonly errorRate: number | null;
  /** Rows of the baseline that it lacks. */
  readonly missing: number;
  readonly latency: LatencyResult;
}

/** Why an experiment does not pass, one sentence each; empty when it passes. */
export function reasonsAgainst(
  candidate: Candidate,
  keys: readonly KeyComparison[],
  scores: readonly ExperimentScores[],
  limits: Limits,
): string[] {
  const { name, id } = candidate;
  const reasons: string[] = [];
  const over = (what: string, value: number | null | undefined, most: number | undefined) => {
    if (most === undefined) return;
    if (value === null || value === undefined) reasons.push(`${name}: ${what} is not known.`);
    else if (value > most) reasons.push(`${name}: ${what} is ${shown(value)}, more than ${most}.`);
  };
  for (const comparison of keys) {
    const result = comparison.results.find(({ experiment }) => experiment === id);
    if (!result) continue;
    if (result.verdict === 'worse' && !limits.allow_significant_regressions)
      reasons.push(significant(name, comparison, result));
    reasons.push(...keyReasons(name, comparison, result, limits.keys[comparison.key] ?? {}));
  }
  for (const key of Object.keys(limits.keys)) {
    const ofRows = keys.some((comparison) => comparison.key === key);
    const ofWhole = scores.find((score) => score.key === key);
    if (ofWhole) reasons.push(...scoreReasons(candidate, ofWhole, limits.keys[key]!, ofRows));
    else if (!ofRows) reasons.push(`${name}: there are no scores of ${key}.`);
  }
  over('the error rate', candidate.errorRate, limits.max_error_rate);
  over('the number of missing rows', candidate.missing, limits.max_missing);
  over('the increase of the median latency', candidate.latency.p50_difference, limits.max_latency_p50_increase);
  over(
    'the increase of the 99th percentile of latency',
    candidate.latency.p99_difference,
    limits.max_latency_p99_increase,
  );
  return reasons;
}

function keyReasons(name: string, { key, direction }: KeyComparison, result: KeyResult, limits: KeyLimits): string[] {
  const reasons: string[] = [];
  const { min_mean: least, max_mean: most, max_drop: mostDrop, max_worse: mostWorse } = limits;
  if ((least ?? most) !== undefined && result.mean === null) reasons.push(`${name}: ${key} has no mean.`);
  else if (least !== undefined && result.mean! < least) {
    reasons.push(`${name}: the mean of ${key} is ${shown(result.mean!)}, less than ${least}.`);
  } else if (most !== undefined && result.mean! > most) {
    reasons.push(`${name}: the mean of ${key} is ${shown(result.mean!)}, more than ${most}.`);
  }
  const { difference = null } = result;
  if ((mostDrop ?? mostWorse) !== undefined && difference === null) {
    reasons.push(`${name}: ${key} cannot be compared, no row has a score in both experiments.`);
  }
  const drop = (difference ?? 0) * (direction === 'higher is better' ? -1 : 1);
  if (mostDrop !== undefined && drop > mostDrop) {
    reasons.push(`${name}: ${key} is worse by ${shown(drop)}, more than ${mostDrop}.`);
  }
  const worse = result.counts?.worse ?? 0;
  if (mostWorse !== undefined && worse > mostWorse) {
    reasons.push(`${name}: ${worse} rows are worse on ${key}, more than ${mostWorse}.`);
  }
  return reasons;
}

/** A limit holds for the score of the whole experiment as for the mean of rows; both are checked where there are both. */
function scoreReasons(
  { id, name }: Candidate,
  { key, direction, results }: ExperimentScores,
  { min_mean: least, max_mean: most, max_drop: mostDrop, max_worse: mostWorse }: KeyLimits,
  ofRows: boolean,
): string[] {
  const { value = null, difference = null } = results.find(({ experiment }) => experiment === id) ?? {};
  const what = `${name}: ${key} of the whole experiment`;
  const reasons: string[] = [];
  if ((least ?? most) !== undefined && value === null) reasons.push(`${what} has no score.`);
  if (least !== undefined && value !== null && value < least) {
    reasons.push(`${what} is ${shown(value)}, less than ${least}.`);
  }
  if (most !== undefined && value !== null && value > most) {
    reasons.push(`${what} is ${shown(value)}, more than ${most}.`);
  }
  if (mostDrop !== undefined && difference === null) {
    reasons.push(`${what} cannot be compared, one of the two has no score.`);
  }
  const drop = (difference ?? 0) * (direction === 'higher is better' ? -1 : 1);
  if (mostDrop !== undefined && drop > mostDrop) {
    reasons.push(`${what} is worse by ${shown(drop)}, more than ${mostDrop}.`);
  }
  if (mostWorse !== undefined && !ofRows) reasons.push(`${what} has no rows that can be worse.`);
  return reasons;
}

function significant(name: string, { key }: KeyComparison, { difference, test }: KeyResult): string {
  return `${name}: ${key} is significantly worse (difference ${shown(difference ?? 0)}, p ${shown(test?.p ?? 0)}, n ${test?.n ?? 0}).`;
}

function shown(value: number): string {
  return String(Number(value.toPrecision(4)));
}
