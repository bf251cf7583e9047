import { figure, labelCounts, signed, whole } from '../../ui/format';

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

/** The members of the comparison of a key with labels that are read here. */
interface Labelled {
  readonly key: string;
  readonly values: readonly string[];
  /** Numbers that stand for the labels: such a key is compared by them. */
  readonly label_values?: unknown;
  readonly results: readonly {
    readonly experiment: string;
    readonly scored: number;
    readonly counts: readonly number[];
    readonly row_counts?: { readonly same: number; readonly changed: number };
    readonly p?: number | null;
    readonly verdict?: 'changed' | 'not clear';
  }[];
}

/** Share of tests that give an alarm although nothing differs. */
const ALARMS = 0.05;
/** Labels of a key that a table names. */
const MOST_LABELS = 3;

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

/** Returns the name by which the test of the labels of a key is known among those of scores. */
export function labelTest(key: string): string {
  return `labels of ${key}`;
}

/** Returns the tests of labels in the form of those of scores. */
export function labelTests(categories: readonly Labelled[]): Keyed[] {
  return categories
    .filter(({ label_values: numbers }) => numbers === undefined)
    .map(({ key, results }) => ({
      ...{ key: labelTest(key), kind: 'numeric' },
      results: results.map(({ experiment, scored, row_counts: rows, p = null }) => ({
        ...{ experiment, scored, mean: null },
        ...(rows && { test: { interval: null, p, n: rows.same + rows.changed } }),
      })),
    }));
}

/** Returns the part of a filter for rows that went from one label to another; null stands for any other label. */
export function labelFilter(from: string | null, to: string | null): string {
  const encoded = (label: string | null) => (label === null ? '' : encodeURIComponent(label));
  return `label=${encoded(from)},${encoded(to)}`;
}

/** Returns the kinds or labels of a filter in words. */
export function filterText(kinds: string): string {
  const [, from, to] = /^label=([^,]*),(.*)$/.exec(kinds) ?? [];
  if (from === undefined || to === undefined) return kinds.replaceAll(',', ', ');
  return [from, to].map((label) => (label === '' ? 'other' : decoded(label))).join(' → ');
}

function decoded(label: string): string {
  try {
    return decodeURIComponent(label);
  } catch {
    return label;
  }
}

/** A difference in the unit of its key: pass or fail in points of a hundred. */
export function difference(value: number, kind: Keyed['kind']): string {
  return kind === 'pass/fail' ? `${signed(Number((value * 100).toPrecision(2)))} points` : signed(value);
}

/**
 * Result of an experiment on a key, as a sentence. It also says that no difference was found, and how large one could
 * be.
 */
export function verdictText({ kind }: Pick<Keyed, 'kind'>, { difference: found, verdict, test }: Tested): string {
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
export function headline(keys: readonly Keyed[], experiment: string, categories: readonly Labelled[] = []): string {
  const parts = keys.flatMap(({ key, results, kind }) => {
    const result = results.find((one) => one.experiment === experiment);
    if (!result?.verdict || result.verdict === 'not clear' || result.difference == null) return [];
    return [{ verdict: result.verdict, text: `${key} (${difference(result.difference, kind)})` }];
  });
  const scored = (['better', 'worse'] as const)
    .map((verdict) => ({ verdict, of: parts.filter((part) => part.verdict === verdict).map(({ text }) => text) }))
    .flatMap(({ verdict, of }) => (of.length > 0 ? [`${verdict} on ${of.join(', ')}`] : []));
  const changed = categories.filter(
    ({ results, label_values: numbers }) =>
      numbers === undefined && results.some((one) => one.experiment === experiment && one.verdict === 'changed'),
  );
  const labels = changed.length > 0 ? [`changed labels of ${changed.map(({ key }) => key).join(', ')}`] : [];
  return [...scored, ...labels].join('; ') || 'no clear difference';
}

/** The comparison as a table in Markdown, with its verdicts and what they leave out. */
export function markdown(
  names: ReadonlyMap<string, string>,
  keys: readonly Keyed[],
  baseline: string,
  categories: readonly Labelled[] = [],
): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');
  const line = (key: string, experiment: string, value: string, verdict: string) =>
    `| ${[key, names.get(experiment) ?? experiment, value, verdict].map(cell).join(' | ')} |`;
  const scores = keys.flatMap((key) =>
    key.results.map((result) => {
      const verdict = result.verdict === undefined ? 'baseline' : verdictText(key, result);
      return line(key.key, result.experiment, figure(result.mean), verdict);
    }),
  );
  const labels = categories.flatMap(({ key, values, results }) =>
    results.map(({ experiment, scored, counts, row_counts: rows, verdict }) => {
      const shown = labelCounts(
        Object.fromEntries(values.map((value, at) => [value, counts[at]!])),
        scored,
        MOST_LABELS,
      );
      const told = rows && `${verdict}: ${whole(rows.changed)} of ${whole(rows.same + rows.changed)} rows changed`;
      return line(key, experiment, shown, told ?? 'baseline');
    }),
  );
  const all = [...keys, ...labelTests(categories)];
  const gaps = [...names].flatMap(([id, name]) => {
    const gap = id === baseline ? undefined : uncompared(all, baseline, id);
    return gap === undefined ? [] : ['', cell(`${name}: ${gap}.`)];
  });
  return [
    ...['| key | experiment | mean | verdict |', '| --- | --- | ---: | --- |'],
    ...[...scores, ...labels, ...gaps],
  ].join('\n');
}
