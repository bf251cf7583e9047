import { figure, labelCounts, signed, whole } from './numbers';

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
export interface Labelled {
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

/** Labels of a key that a table names. */
const MOST_LABELS = 3;

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

/** The comparison as a table in Markdown, with its verdicts. */
export function markdown(
  names: ReadonlyMap<string, string>,
  keys: readonly Keyed[],
  categories: readonly Labelled[] = [],
): string {
  const line = (key: string, experiment: string, value: string, verdict: string) =>
    `| ${[key, names.get(experiment) ?? experiment, value, verdict].map(escaped).join(' | ')} |`;
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
  return [...['| key | experiment | mean | verdict |', '| --- | --- | ---: | --- |'], ...[...scores, ...labels]].join(
    '\n',
  );
}

/** Bidirectional and other controls, which would show a text as another one. */
const CONTROLS = /[\p{Cc}\p{Cs}\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;
/** Beginnings of mentions and references, which code hosts look for after Markdown has been read. */
const REFERENCES = /[@#!%~^](?=[\p{L}\p{N}_"'{@#])|[$&](?=[\p{L}\p{N}])|\[(?=[a-z_]+:)|\b(?:GH|GL)(?=-\d)/giu;
const ADDRESSES = /:(?=\/\/)|\b(?:www|mailto|xmpp)(?=[.:])/giu;
/** A space without width. */
const APART = '\u200b';
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/**
 * Returns a text that somebody else has written for a line of Markdown that code hosts show: on one line, without signs
 * of Markdown and HTML, and without anything that would mention a person, refer to an issue, or be made a link.
 */
export function escaped(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(CONTROLS, '')
    .replaceAll(REFERENCES, `$&${APART}`)
    .replaceAll(ADDRESSES, `$&${APART}`)
    .replaceAll(/[&<>]/g, (sign) => ENTITIES[sign]!)
    .replaceAll(/[\\`*_[\]|#~$]/g, '\\$&');
}
