import type { Gate, GateLimits, GateOutcome } from '@fairlead/contracts';
import { MEASURES, type ExperimentScores, type KeyScores, type ScoreTable } from '../compare/score-table';
import { sliceText } from '../compare/slice';
import { alphaOf, boundsOf } from './gate-test';

/**
 * Version of the method below: a verdict names it, and is computed again with it. What changes a number is another version.
 */
export const METHOD = 'bounds-1';
/** Rows below which the quantiles of the test are not good enough, whatever a gate says. */
const FEWEST = 10;
/** Sentences of one verdict. */
export const MOST_REASONS = 100;
/** Limits of one verdict, with those of slices. */
const MOST_LIMITS = 300;

/** Rows of the table whose example has one value in a member. */
export interface SliceRows {
  readonly by: string;
  readonly value: string;
  readonly rows: Int32Array;
}

/** One limit of a gate, held against the evidence. Means are those of rows. */
interface Criterion {
  readonly of: string;
  /** `<member>=<value>`; null for all rows. */
  readonly slice: string | null;
  readonly limit: string;
  readonly threshold: number;
  readonly outcome: GateOutcome;
  readonly rows: number;
  readonly mean: number | null;
  readonly lower: number | null;
  readonly upper: number | null;
  readonly detectable: number | null;
}

export interface GateVerdict {
  readonly gate: string;
  /** True when limits were tested, which uses up a part of the probability of an error. */
  readonly tested: boolean;
  readonly outcome: GateOutcome;
  readonly reasons: readonly string[];
  readonly criteria: readonly Criterion[];
}

/** The scores of experiments: first those of the baseline, then those of the revision. */
interface GateEvidence {
  readonly table: ScoreTable;
  /** Number of experiments of the baseline. */
  readonly baselines: number;
  /** Feedback keys whose lower scores are better. */
  readonly lowerIsBetter: ReadonlySet<string>;
  /** The rows of each slice of the gate; a slice that is not among them has none. */
  readonly slices?: readonly SliceRows[];
}

/** A limit: the mean of `values` has to be at least `threshold`; those of rows that lack something are missing. */
interface Limit {
  readonly of: string;
  readonly slice: string | null;
  readonly limit: string;
  readonly threshold: number;
  readonly values: readonly number[];
  readonly range: { readonly least: number; readonly most: number };
  /** -1 when smaller values are better: then values and threshold have been negated. */
  readonly sign: 1 | -1;
}

/**
 * Holds the evidence for a revision against a gate. It is promoted when every limit is shown to hold, refused when one is
 * shown to be broken, and held otherwise: rows without a score, or that were not run, are never passed over. `look` is the
 * number of the look, from 1.
 */
export function judgeGate(gate: Gate, evidence: GateEvidence, look: number): GateVerdict {
  const { limits, rows, missing } = limitsOf(gate, evidence);
  const least = Math.max(gate.min_rows, FEWEST);
  if (rows < least) missing.unshift(`${rows} of ${least} rows are there.`);
  if (limits.length > MOST_LIMITS) missing.push(`It has more than ${MOST_LIMITS} limits, with those of its slices.`);
  // What is not complete is not tested: a test would use up a look.
  if (missing.length > 0) {
    return { gate: gate.name, tested: false, outcome: 'hold', reasons: missing.slice(0, MOST_REASONS), criteria: [] };
  }
  const alpha = alphaOf(look);
  // One bound that is wrong refuses a revision; to promote it, those of all broken limits would have to be wrong.
  const criteria = limits.map((limit) => criterionOf(limit, [alpha, alpha / Math.max(1, limits.length)]));
  const refused = criteria.filter(({ outcome }) => outcome === 'refuse');
  const held = criteria.filter(({ outcome }) => outcome === 'hold');
  const reasons = (refused.length > 0 ? refused : held).map(sentence);
  const outcome = refused.length > 0 ? 'refuse' : reasons.length > 0 || criteria.length === 0 ? 'hold' : 'promote';
  if (outcome === 'hold' && reasons.length === 0) reasons.push('It has no limits.');
  return { gate: gate.name, tested: true, outcome, reasons: reasons.slice(0, MOST_REASONS), criteria };
}

/** The feedback keys that a gate has limits for. */
export function keysOf({ keys, slices = [] }: Gate): string[] {
  return [...new Set([keys, ...slices.map((slice) => slice.keys)].flatMap((each) => Object.keys(each)))];
}

function criterionOf({ of, slice, limit, threshold, values, range, sign }: Limit, alphas: [number, number]): Criterion {
  const bounds = values.length < FEWEST ? undefined : boundsOf({ values, range, threshold }, alphas);
  const about = { of, slice, limit, threshold: threshold * sign, rows: values.length };
  if (!bounds) return { ...about, outcome: 'hold', mean: null, lower: null, upper: null, detectable: null };
  const { lower, upper, mean, detectable } = bounds;
  const outcome = lower >= threshold ? 'promote' : upper < threshold ? 'refuse' : 'hold';
  const [low, high] = sign === 1 ? [lower, upper] : [-upper, -lower];
  return { ...about, outcome, mean: mean * sign, lower: low, upper: high, detectable };
}

function sentence({
  of: what,
  slice,
  limit,
  threshold,
  outcome,
  rows,
  mean,
  lower,
  upper,
  detectable,
}: Criterion): string {
  const of = what + within(slice);
  if (mean === null) return `${of} has too few rows for a limit.`;
  const range = `${shown(mean)} over ${rows} rows, between ${shown(lower!)} and ${shown(upper!)}`;
  const told = `${of} is ${range}; the ${limit} is ${shown(threshold)}`;
  return outcome === 'refuse' ? `${told}.` : `${told}: so few rows tell only ${shown(detectable!)} beyond it.`;
}

function shown(value: number): string {
  return String(Number(value.toPrecision(4)));
}

/** The words that name a slice after what it is a part of. */
function within(slice: string | null): string {
  return slice === null ? '' : ` in ${slice}`;
}

/** Some rows of the table, and the limits that hold for them. */
interface Part {
  readonly slice: string | null;
  readonly rows: ArrayLike<number>;
  readonly limits: GateLimits;
}

/** All rows, and those of each slice. */
function partsOf(gate: Gate, { table, slices = [] }: GateEvidence): Part[] {
  const whole = { slice: null, rows: Array.from({ length: table.rows }, (_, row) => row), limits: gate };
  const some = (gate.slices ?? []).flatMap((limits): Part[] => {
    const { by, value } = limits;
    const found = slices.filter((one) => one.by === by && (value === undefined || one.value === value));
    if (found.length > 0) return found.map((one) => ({ slice: sliceText(one), rows: one.rows, limits }));
    return [{ slice: value === undefined ? by : sliceText({ by, value }), rows: [], limits }];
  });
  return [whole, ...some];
}

/** The limits of a gate with their values by row, the number of rows, and sentences about what is missing. */
function limitsOf(gate: Gate, evidence: GateEvidence) {
  const { table, baselines, lowerIsBetter } = evidence;
  const [before, after] = [table.experiments.slice(0, baselines), table.experiments.slice(baselines)];
  const run = Array.from({ length: table.rows }, (_, row) => after.some(({ runs }) => runs[row]! > 0));
  const limits: Limit[] = [];
  const missing = table.unread.map((key) => `${key} could not be read: there are too many keys for so many rows.`);
  const means = new Map<string, Means>();
  const meansBy = (name: string, columns: readonly Column[]) => {
    const known = means.get(name) ?? {
      range: rangeOf(columns),
      earlier: meansOf(columns.slice(0, baselines), table.rows),
      later: meansOf(columns.slice(baselines), table.rows),
    };
    means.set(name, known);
    return known;
  };
  const add = (part: Part, there: readonly number[], name: string, of: Means, given: Wanted, sign: 1 | -1) => {
    const { slice } = part;
    const place = within(slice);
    const { range, earlier, later } = of;
    const present = there.map((row) => later[row]!).filter((mean) => !Number.isNaN(mean));
    const unscored = there.length - present.length;
    if (unscored > 0) missing.push(`${unscored} of ${there.length} rows${place} have no ${name}.`);
    const about = { of: name, slice };
    if (given.min !== undefined) limits.push(valueLimit(about, 'minimum allowed', given.min, present, range, 1));
    if (given.max !== undefined) limits.push(valueLimit(about, 'maximum allowed', given.max, present, range, -1));
    if (given.drop === undefined) return;
    if (before.length === 0) missing.push('There is no experiment to compare with.');
    const rows = Array.from(part.rows);
    const pairs = rows.map((row) => (later[row]! - earlier[row]!) * sign).filter((one) => !Number.isNaN(one));
    const width = range.most - range.least;
    limits.push({
      ...{
        of: `the difference of ${name}`,
        slice,
        limit: sign === 1 ? 'least difference allowed' : 'greatest difference allowed',
        threshold: -given.drop,
        values: pairs,
      },
      ...{ range: { least: -width, most: width }, sign },
    });
    const lost = rows.filter((row) => !Number.isNaN(earlier[row]!) && !run[row]).length;
    if (lost > 0) missing.push(`${lost} rows${place} that the baseline has for ${name} were not run.`);
  };
  for (const part of partsOf(gate, evidence)) {
    const there = Array.from(part.rows).filter((row) => run[row]);
    const { slice } = part;
    if (slice !== null && there.length < FEWEST) {
      missing.push(`${there.length} of ${FEWEST} rows${within(slice)} are there.`);
      continue;
    }
    for (const [key, given] of Object.entries(part.limits.keys)) {
      const columns = table.experiments.map(({ keys }) => keys.get(key));
      const wanted = { min: given.min_mean, max: given.max_mean, drop: given.max_drop };
      add(part, there, key, meansBy(`key ${key}`, columns), wanted, lowerIsBetter.has(key) ? -1 : 1);
    }
    for (const measure of MEASURES) {
      const given = part.limits.measures[measure];
      if (!given) continue;
      const columns = table.experiments.map(({ measures }) => measures.get(measure));
      add(part, there, measure, meansBy(measure, columns), { max: given.max_mean, drop: given.max_increase }, -1);
    }
    const { max_error_rate: most } = part.limits;
    if (most === undefined) continue;
    const rates = there.map((row) => errorRate(after, row));
    limits.push(valueLimit({ of: 'the error rate', slice }, 'maximum allowed', most, rates, { least: 0, most: 1 }, -1));
  }
  if (after.length === 0) missing.push('No experiment on the dataset names the revision.');
  return { limits, rows: run.filter(Boolean).length, missing: [...new Set(missing)] };
}

/** The values of a key or measure by row, before and after. */
interface Means {
  readonly range: Limit['range'];
  readonly earlier: readonly number[];
  readonly later: readonly number[];
}

type Column = KeyScores | undefined;

interface Wanted {
  readonly min?: number;
  readonly max?: number;
  readonly drop?: number;
}

function valueLimit(
  about: Pick<Limit, 'of' | 'slice'>,
  limit: string,
  threshold: number,
  values: readonly number[],
  { least, most }: Limit['range'],
  sign: 1 | -1,
): Limit {
  const range = sign === 1 ? { least, most } : { least: -most, most: -least };
  return { ...about, limit, threshold: threshold * sign, values: values.map((value) => value * sign), range, sign };
}

/** The mean over experiments by row; NaN where none has a value. */
function meansOf(columns: readonly Column[], rows: number): number[] {
  return Array.from({ length: rows }, (_, row) => {
    let [sum, count] = [0, 0];
    for (const column of columns) {
      const mean = column?.means[row] ?? NaN;
      if (Number.isNaN(mean)) continue;
      sum += mean;
      count++;
    }
    return count === 0 ? NaN : sum / count;
  });
}

/** The range of values: 0 to 1 for those that pass or fail, otherwise the one that was seen, and never empty. */
function rangeOf(columns: readonly Column[]): Limit['range'] {
  const known = columns.filter((column) => column !== undefined);
  if (known.length === 0 || known.every(({ passFail }) => passFail)) return { least: 0, most: 1 };
  const least = Math.min(...known.map((column) => column.least));
  const most = Math.max(...known.map((column) => column.most));
  return least === most ? { least: Math.min(0, least), most: Math.max(0, most) } : { least, most };
}

/** Failed runs of a row over its runs, in all experiments. */
function errorRate(experiments: readonly ExperimentScores[], row: number): number {
  let [failed, runs] = [0, 0];
  for (const one of experiments) {
    failed += one.failed[row]!;
    runs += one.runs[row]!;
  }
  return failed / runs;
}
