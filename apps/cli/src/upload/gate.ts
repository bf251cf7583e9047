import { Usage } from '../failure';

interface MeasureLimits {
  max_mean?: number;
  max_increase?: number;
  min_known?: number;
}

interface KeyLimits {
  min_mean?: number;
  max_mean?: number;
  max_drop?: number;
  max_worse?: number;
  min_scored?: number;
  labels?: Record<string, { min_share?: number; max_share?: number; max_drop?: number; max_rise?: number }>;
}

/** Limits that the service's gate takes beside the experiments. */
interface Limits {
  keys: Record<string, KeyLimits>;
  measures?: Record<string, MeasureLimits>;
  max_error_rate?: number;
  max_missing?: number;
  max_latency_p50_increase?: number;
  max_latency_p99_increase?: number;
}

const LIMIT = /^(.+?)\s*(>=|<=)\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(\s*%)?$/is;
const OF_KEY = /^(mean|worse|difference|scored)\((.+)\)$/s;
const OF_LABEL = /^(share|change)\(([^=]+)=(.+)\)$/s;
const OF_MEASURE = /^(average|increase|known)\((latency|tokens|cost)\)$/;
const WHOLE = {
  error_rate: 'max_error_rate',
  missing: 'max_missing',
  latency_p50: 'max_latency_p50_increase',
  latency_p99: 'max_latency_p99_increase',
} as const;

export const GATE_HELP = `
Limits of --gate:
  KEY>=-0.02           the mean may fall by 0.02 at most; KEY<=0.02 for a key of
                       which lower is better
  difference(KEY)>=…   the same, for a key that is named like one of the words
                       below
  mean(KEY)>=0.8       the mean itself; also <=. Scores of the whole experiment
                       are limited in the same way
  worse(KEY)<=3        so many rows may be worse
  scored(KEY)>=95%     so many of the rows that the baseline has scored must be
                       scored; the others then leave nothing undecided
  share(KEY=LABEL)>=80%  so many of the rows must have the label; also <=
  change(KEY=LABEL)>=-5%  the share of the label may fall by 5 points at most;
                       <=5% lets it rise by 5 at most
  error_rate<=1%       share of runs that failed
  missing<=0           rows that only the baseline has
  latency_p50<=0.5     seconds slower than the baseline; also latency_p99
  average(cost)<=0.02  what a run costs on average; also of tokens and latency
  increase(cost)<=0.01  how much more that is than in the baseline, over the
                       rows of both
  known(cost)>=95%     so many of the rows whose cost the baseline knows must
                       have one; the others then leave nothing undecided
A significant regression of any key fails the gate unless
--allow-significant-regressions is given. When no limit is broken but not
everything could be compared, the gate is undecided: exit code 6.`;

/** Adds an expression of `--gate` to the ones before it. @throws Usage when it is no limit */
export function gateOption(expression: string, before: readonly string[] = []): string[] {
  const { subject, operator } = parsed(expression);
  const [, ofMeasure] = OF_MEASURE.exec(subject) ?? [];
  const isMost = ofMeasure === 'average' || ofMeasure === 'increase';
  const isKept = isMost || Object.hasOwn(WHOLE, subject) || OF_KEY.exec(subject)?.[1] === 'worse';
  if (isKept) most(operator, expression);
  if (ofMeasure === 'known' || OF_KEY.exec(subject)?.[1] === 'scored')
    share(operator, parsed(expression).value, expression);
  if (OF_LABEL.exec(subject)?.[1] === 'share') part(parsed(expression).value, expression);
  return [...before, expression];
}

function parsed(expression: string) {
  const [, subject, operator, number, percent] = LIMIT.exec(expression.trim()) ?? [];
  if (!subject || !operator) throw new Usage(`--gate ${expression}: write a limit such as correct>=-0.02.`);
  return { subject, operator, value: Number(number) / (percent ? 100 : 1) };
}

/**
 * The limits that expressions such as `correct>=-0.02` describe.
 * @param lowerIsBetter the keys of which lower is better
 * @throws Usage
 */
export function gateLimits(expressions: readonly string[], lowerIsBetter: ReadonlySet<string>): Limits {
  const limits: Limits = { keys: {} };
  for (const expression of expressions) {
    const { subject, operator, value } = parsed(expression);
    const whole = Object.hasOwn(WHOLE, subject) ? WHOLE[subject as keyof typeof WHOLE] : undefined;
    if (whole) {
      most(operator, expression);
      once(limits, whole, expression);
      limits[whole] = value;
      continue;
    }
    const [, ofMeasure, measure] = OF_MEASURE.exec(subject) ?? [];
    if (ofMeasure !== undefined) {
      const given = own((limits.measures ??= {}), measure!);
      const member = ({ average: 'max_mean', increase: 'max_increase', known: 'min_known' } as const)[
        ofMeasure as 'average' | 'increase' | 'known'
      ];
      once(given, member, expression);
      if (member === 'min_known') share(operator, value, expression);
      else most(operator, expression);
      given[member] = value;
      continue;
    }
    const [, ofShare, labelled, label] = OF_LABEL.exec(subject) ?? [];
    if (ofShare !== undefined) {
      const ofLabel = own((own(limits.keys, labelled!).labels ??= {}), label!);
      const least = operator === '>=';
      const member = ofShare === 'share' ? (least ? 'min_share' : 'max_share') : least ? 'max_drop' : 'max_rise';
      once(ofLabel, member, expression);
      if (ofShare === 'share') part(value, expression);
      ofLabel[member] = member === 'max_drop' ? -value : value;
      continue;
    }
    const [, what = 'difference', key = subject] = OF_KEY.exec(subject) ?? [];
    const ofKey = own(limits.keys, key);
    const put = (member: Exclude<keyof KeyLimits, 'labels'>, limit: number) => {
      once(ofKey, member, expression);
      ofKey[member] = limit;
    };
    if (what === 'mean') put(operator === '>=' ? 'min_mean' : 'max_mean', value);
    else if (what === 'worse') {
      most(operator, expression);
      put('max_worse', value);
    } else if (what === 'scored') put('min_scored', share(operator, value, expression));
    else put('max_drop', drop(expression, key, operator, value, lowerIsBetter.has(key)));
  }
  return limits;
}

/** @throws Usage for a second limit of the same kind, of which only one would be checked */
function once(limits: object, member: string, expression: string): void {
  if (Object.hasOwn(limits, member)) throw new Usage(`--gate ${expression}: there is a limit of this kind already.`);
}

/** The member of an object with this name, which may be any. */
function own<T extends object>(members: Record<string, T>, name: string): T {
  const member = Object.hasOwn(members, name) ? members[name]! : ({} as T);
  Object.defineProperty(members, name, { value: member, enumerable: true, configurable: true });
  return member;
}

/** Largest change of a mean for the worse, from a limit on its difference from the baseline's. */
function drop(expression: string, key: string, operator: string, value: number, lower: boolean): number {
  if ((operator === '<=') === lower) return lower ? value : -value;
  throw new Usage(
    lower
      ? `--gate ${expression}: lower is better for ${key}, so write ${key}<=…`
      : `--gate ${expression}: higher is better for ${key}, so write ${key}>=… or add --lower-is-better ${key}.`,
  );
}

function part(value: number, expression: string): number {
  if (value >= 0 && value <= 1) return value;
  throw new Usage(`--gate ${expression}: a share is from 0 to 100 %.`);
}

function share(operator: string, value: number, expression: string): number {
  if (operator === '>=' && value >= 0 && value <= 1) return value;
  throw new Usage(`--gate ${expression}: this can only be limited with >= and a share from 0 to 100 %.`);
}

/** Keys whose difference from the baseline is limited: how it is written depends on which direction is better. */
export function differenceKeys(expressions: readonly string[]): string[] {
  return expressions.flatMap((expression) => {
    const { subject } = parsed(expression);
    if (Object.hasOwn(WHOLE, subject) || OF_LABEL.test(subject)) return [];
    const [, what = 'difference', key = subject] = OF_KEY.exec(subject) ?? [];
    return what === 'difference' ? [key] : [];
  });
}

function most(operator: string, expression: string): void {
  if (operator !== '<=') throw new Usage(`--gate ${expression}: this can only be limited with <=.`);
}
