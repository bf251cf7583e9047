import type { KeyValues, ScoreTable } from './compare-scores.queries';

/** Rows of one experiment by the value that they have of a key. */
interface CategoryResult {
  readonly experiment: string;
  /** Rows with a value. */
  readonly scored: number;
  /** Rows in the order of the values of the key. */
  readonly counts: readonly number[];
  /** Rows with a value that is not among them. */
  readonly other: number;
}

/** A key whose feedback has values instead of scores, such as `friendly`. */
export interface CategoryComparison {
  readonly key: string;
  readonly kind: 'category';
  /** The most frequent values of all experiments together. */
  readonly values: readonly string[];
  readonly results: readonly CategoryResult[];
}

const MOST_VALUES = 20;

/** Names of the keys that an experiment of the table has values of. */
export function categoryKeys({ experiments }: ScoreTable): string[] {
  return [...new Set(experiments.flatMap(({ categories }) => [...categories.keys()]))].sort();
}

/** Counts the rows of each experiment by their value of a key. */
export function compareCategories({ experiments }: ScoreTable, key: string): CategoryComparison {
  const columns = experiments.map(({ categories }) => countsOf(categories.get(key)));
  const totals = new Map<string, number>();
  for (const column of columns)
    for (const [value, count] of column) totals.set(value, (totals.get(value) ?? 0) + count);
  const ranked = [...totals].sort(([a, few], [b, many]) => many - few || (a < b ? -1 : 1));
  const values = ranked.slice(0, MOST_VALUES).map(([value]) => value);
  const results = experiments.map(({ id }, place) => {
    const column = columns[place]!;
    const counts = values.map((value) => column.get(value) ?? 0);
    const scored = sum(column.values());
    return { experiment: id, scored, counts, other: scored - sum(counts) };
  });
  return { key, kind: 'category', values, results };
}

/**
 * Rows by their value in the baseline and in another experiment: a list for each value of the baseline, with a number for
 * each value of the other one, in the order of `values`; after them what has another value, then what has none. Rows that
 * one of the two does not have are left out.
 */
export function transitions(
  { rows, experiments }: ScoreTable,
  { key, values }: CategoryComparison,
  experiment: number,
): number[][] {
  const [baseline, other] = [experiments[0]!, experiments[experiment]!];
  const places = [placesOf(baseline.categories.get(key), values), placesOf(other.categories.get(key), values)];
  const [before, after] = [baseline.categories.get(key)?.codes, other.categories.get(key)?.codes];
  const none = values.length + 1;
  const matrix = Array.from({ length: none + 1 }, () => new Array<number>(none + 1).fill(0));
  for (let row = 0; row < rows; row++) {
    if (!baseline.runs[row] || !other.runs[row]) continue;
    const from = places[0]![before?.[row] ?? -1] ?? none;
    const to = places[1]![after?.[row] ?? -1] ?? none;
    matrix[from]![to]!++;
  }
  return matrix;
}

/** Where each label of a column stands among the values, after all of them when it does not. */
function placesOf(column: KeyValues | undefined, values: readonly string[]): number[] {
  const places = new Map(values.map((value, place) => [value, place]));
  return (column?.labels ?? []).map((label) => places.get(label) ?? values.length);
}

function countsOf(column: KeyValues | undefined): Map<string, number> {
  const counts = new Map<string, number>();
  if (!column) return counts;
  for (const code of column.codes) {
    if (code < 0) continue;
    const label = column.labels[code]!;
    counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  return counts;
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const one of numbers) total += one;
  return total;
}
