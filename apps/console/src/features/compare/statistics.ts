import { figure, signed, whole } from '../../ui/format';

/** The members of one experiment's result on one key that are read here. */
export interface Tested {
  readonly experiment: string;
  readonly mean: number | null;
  readonly scored: number;
  readonly difference?: number | null;
  readonly verdict?: 'better' | 'worse' | 'not clear';
  readonly test?: {
    readonly interval: { readonly low: number; readonly high: number } | null;
    readonly p: number | null;
    readonly n: number;
  };
}

export interface Keyed {
  readonly key: string;
  readonly kind: 'pass/fail' | 'numeric';
  readonly results: readonly Tested[];
}

/** Share of tests that give an alarm although nothing differs. */
const ALARMS = 0.05;

/** Which of some probabilities are small also when it is considered how many there are, by Holm's method. */
export function holm(values: readonly (number | null)[]): boolean[] {
  const order = values.flatMap((p, index) => (p === null ? [] : [{ p, index }])).sort((a, b) => a.p - b.p);
  const kept = values.map(() => false);
  for (const [rank, { p, index }] of order.entries()) {
    if (p >= ALARMS / (order.length - rank)) break;
    kept[index] = true;
  }
  return kept;
}

/** The tests on a page, and the key and experiment of those that survive Holm's correction. */
export function correct(keys: readonly Keyed[]): { tests: number; alarms: number; surviving: ReadonlySet<string> } {
  const tested = keys.flatMap(({ key, results }) =>
    results.flatMap(({ experiment, test }) =>
      test && test.p !== null ? [{ name: nameOf(key, experiment), p: test.p }] : [],
    ),
  );
  const kept = holm(tested.map(({ p }) => p));
  return {
    tests: tested.length,
    alarms: tested.length * ALARMS,
    surviving: new Set(tested.filter((_, index) => kept[index]).map(({ name }) => name)),
  };
}

/** Names the test of a key and an experiment. */
export function nameOf(key: string, experiment: string): string {
  return `${experiment} ${key}`;
}

/** A difference in the unit of its key: pass or fail in points of a hundred. */
export function difference(value: number, kind: Keyed['kind']): string {
  return kind === 'pass/fail' ? `${signed(Number((value * 100).toPrecision(2)))} points` : signed(value);
}

/**
 * Result of an experiment on a key, as a sentence. It also says that no difference was found, and how large one could
 * be.
 */
export function verdictText({ kind }: Keyed, { difference: found, verdict, test }: Tested): string {
  if (!test || found === null || found === undefined || !test.interval) return 'nothing to compare';
  const { low, high } = test.interval;
  const ends = kind === 'pass/fail' ? [low * 100, high * 100] : [low, high];
  const range = ends.map((end) => signed(Number(end.toPrecision(2)))).join(' … ');
  if (verdict === 'not clear') {
    const size = (high - low) / 2;
    const shown = kind === 'pass/fail' ? `${figure(Number((size * 100).toPrecision(2)))} points` : figure(size);
    return `not clear: ${whole(test.n)} rows can show ±${shown}`;
  }
  return `${verdict}: ${difference(found, kind)} (${range})`;
}

/** Rows that the baseline has scored and another experiment has not, of the key with most of them, as a sentence. */
export function uncompared(keys: readonly Keyed[], baseline: string, experiment: string): string | undefined {
  const gaps = keys.flatMap(({ key, results }) => {
    const [of, found] = [baseline, experiment].map((id) => results.find((one) => one.experiment === id));
    const rows = of?.scored ?? 0;
    const missing = rows - (found?.test?.n ?? 0);
    return missing > 0 ? [{ key, rows, missing }] : [];
  });
  const [most] = gaps.sort((a, b) => b.missing - a.missing);
  if (!most) return undefined;
  const more = gaps.length > 1 ? ` and ${whole(gaps.length - 1)} more` : '';
  return `${whole(most.missing)} of ${whole(most.rows)} rows could not be compared on ${most.key}${more}`;
}

/** The comparison in one sentence for each candidate. */
export function headline(keys: readonly Keyed[], experiment: string): string {
  const parts = keys.flatMap(({ key, results, kind }) => {
    const result = results.find((one) => one.experiment === experiment);
    if (!result?.verdict || result.verdict === 'not clear' || result.difference == null) return [];
    return [{ verdict: result.verdict, text: `${key} (${difference(result.difference, kind)})` }];
  });
  if (parts.length === 0) return 'no clear difference';
  return (['better', 'worse'] as const)
    .map((verdict) => ({ verdict, of: parts.filter((part) => part.verdict === verdict).map(({ text }) => text) }))
    .flatMap(({ verdict, of }) => (of.length > 0 ? [`${verdict} on ${of.join(', ')}`] : []))
    .join('; ');
}

/** The comparison as a table in Markdown, with its verdicts and what they leave out. */
export function markdown(names: ReadonlyMap<string, string>, keys: readonly Keyed[], baseline: string): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');
  const lines = keys.flatMap((key) =>
    key.results.map((result) => {
      const verdict = result.verdict === undefined ? 'baseline' : verdictText(key, result);
      return `| ${[key.key, names.get(result.experiment) ?? result.experiment, figure(result.mean), verdict].map(cell).join(' | ')} |`;
    }),
  );
  const gaps = [...names].flatMap(([id, name]) => {
    const gap = id === baseline ? undefined : uncompared(keys, baseline, id);
    return gap === undefined ? [] : ['', cell(`${name}: ${gap}.`)];
  });
  return ['| key | experiment | mean | verdict |', '| --- | --- | ---: | --- |', ...lines, ...gaps].join('\n');
}
