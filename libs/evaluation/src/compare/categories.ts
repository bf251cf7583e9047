import { setImmediate } from 'node:timers/promises';
import type { CategoryComparison, CategoryResult, LabelShare } from './compare.answers.schema';
import { signTest } from './comparison';
import { countLabels, hasLabel, isWhole, placesIn, shareOf, tidy } from './labels';
import type { KeyLabels, ScoreTable } from './score-table';

export type LabelKind = 'same' | 'changed' | 'missing' | 'extra' | 'errored' | 'unscored';

const MOST_VALUES = 20;
const MOST_CHANGES = 20;
const SIGNIFICANT = 0.05;

export function categoryKeys({ experiments }: ScoreTable): string[] {
  return [...new Set(experiments.flatMap(({ labels }) => [...labels.keys()]))].sort();
}

export async function compareCategories(table: ScoreTable, key: string): Promise<CategoryComparison> {
  const counted = table.experiments.map(({ labels }) => {
    const column = labels.get(key);
    return { column, ...(column ? countLabels(column) : { counts: new Map<string, number>(), scored: 0 }) };
  });
  const totals = new Map<string, number>();
  for (const { counts } of counted)
    for (const [label, count] of counts) totals.set(label, tidy((totals.get(label) ?? 0) + count));
  const numbers = table.labelValues.get(key);
  const numberOf = (label: string) => (isWhole(label) ? numbers?.get(label) : undefined);
  const ranked = [...totals].sort(([a, few], [b, many]) => many - few || (a < b ? -1 : 1));
  const values = ranked.slice(0, MOST_VALUES).map(([value]) => value);
  // The sort keeps those without a number in their order.
  if (numbers) values.sort((a, b) => order(numberOf(b)) - order(numberOf(a)) || 0);
  const compared: CategoryComparison = {
    ...{ key, kind: 'category', values },
    ...(numbers && { label_values: values.map((label) => numberOf(label) ?? null) }),
    results: [],
  };
  const results: CategoryResult[] = [];
  for (const [place, { column, counts, scored }] of counted.entries()) {
    await setImmediate();
    const ofValues = values.map((value) => counts.get(value) ?? 0);
    const other = tidy(scored - ofValues.reduce((sum, count) => sum + count, 0));
    results.push({
      ...{ experiment: table.experiments[place]!.id, scored, runs: column?.runs ?? 0, counts: ofValues, other },
      ...(place > 0 && against(table, compared, place)),
    });
  }
  return { ...compared, results };
}

function order(number: number | undefined): number {
  return number ?? -Number.MAX_VALUE;
}

function against(table: ScoreTable, compared: CategoryComparison, place: number) {
  const { key, values } = compared;
  const kindOf = labelKinds(table, place, key);
  const row_counts = { rows: 0, same: 0, changed: 0, missing: 0, extra: 0, errored: 0, unscored: 0 };
  for (let row = 0; row < table.rows; row++) {
    const kind = kindOf(row);
    if (!kind) continue;
    row_counts.rows++;
    row_counts[kind]++;
  }
  const all = shareChanges(table, place, key);
  const none = { difference: 0, more: 0, fewer: 0, p: 1 };
  const least = Math.min(1, ...[...(all?.values() ?? [])].map(({ p }) => p));
  // Of two labels, one has what the other lacks: there is one test.
  const p = all ? Math.min(1, least * (all.size > 2 ? all.size : 1)) : null;
  const matrix = transitions(table, compared, place);
  const changes = matrix.slice(0, -1).flatMap((line, from) =>
    line.slice(0, -1).flatMap((rows, to) => {
      const named = { from: values[from] ?? null, to: values[to] ?? null, rows };
      return rows > 0 && from !== to ? named : [];
    }),
  );
  return {
    row_counts,
    shares: all ? values.map((label) => all.get(label) ?? none) : null,
    p,
    verdict: p !== null && p < SIGNIFICANT ? ('changed' as const) : ('not clear' as const),
    changes: changes.sort((a, b) => b.rows - a.rows).slice(0, MOST_CHANGES),
  };
}

/** Returns the change of the share of each label over the rows that both have labelled; undefined when there are none. */
export function shareChanges(
  { rows, experiments }: ScoreTable,
  place: number,
  key: string,
): Map<string, LabelShare> | undefined {
  const [before, after] = [experiments[0]!.labels.get(key), experiments[place]!.labels.get(key)];
  if (!before || !after) return undefined;
  const labels = [...new Set([...before.labels, ...after.labels])];
  const [from, to] = [placesIn(labels, before), placesIn(labels, after)];
  const [sums, more, fewer] = [0, 1, 2].map(() => new Float64Array(labels.length)) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  const seen = new Uint8Array(labels.length);
  let n = 0;
  for (let row = 0; row < rows; row++) {
    if (!hasLabel(before, row) || !hasLabel(after, row)) continue;
    n++;
    if (isAlone(before, row) && isAlone(after, row)) {
      // Most rows were run once: a map for each of hundreds of thousands would take too long.
      const [old, now] = [from[before.codes[before.starts[row]!]!]!, to[after.codes[after.starts[row]!]!]!];
      seen[old] = seen[now] = 1;
      if (old === now) continue;
      sums[old]!--;
      fewer[old]!++;
      sums[now]!++;
      more[now]!++;
      continue;
    }
    const changes = new Map<number, number>();
    for (let at = before.starts[row]!; at < before.starts[row + 1]!; at++) {
      changes.set(from[before.codes[at]!]!, -before.shares[at]!);
    }
    for (let at = after.starts[row]!; at < after.starts[row + 1]!; at++) {
      const label = to[after.codes[at]!]!;
      changes.set(label, (changes.get(label) ?? 0) + after.shares[at]!);
    }
    for (const [label, change] of changes) {
      seen[label] = 1;
      sums[label]! += change;
      if (change > 0) more[label]!++;
      else if (change < 0) fewer[label]!++;
    }
  }
  if (n === 0) return undefined;
  return new Map(
    labels.flatMap((label, code) => {
      if (!seen[code]) return [];
      const [up, down] = [more[code]!, fewer[code]!];
      return [[label, { difference: tidy(sums[code]! / n), more: up, fewer: down, p: signTest(up, down) }] as const];
    }),
  );
}

/**
 * Returns a function that tells the outcome for the labels of a row in an experiment, undefined when neither has the row. They are the same when each
 * has the same share of the row's runs; labels that are not known as a whole are never the same.
 */
export function labelKinds({ experiments }: ScoreTable, place: number, key: string) {
  const [baseline, other] = [experiments[0]!, experiments[place]!];
  const [before, after] = [baseline.labels.get(key), other.labels.get(key)];
  const places = placesIn(before?.labels ?? [], after);
  const whole = after?.labels.map(isWhole) ?? [];
  return (row: number): LabelKind | undefined => {
    const [had, has] = [baseline.runs[row]! > 0, other.runs[row]! > 0];
    if (!had && !has) return undefined;
    if (!has) return 'missing';
    if (!had) return 'extra';
    if (!before || !after || !hasLabel(before, row) || !hasLabel(after, row)) {
      const failed = (experiment: typeof other) =>
        experiment.failed[row]! > 0 && !hasLabel(experiment.labels.get(key), row);
      return failed(baseline) || failed(other) ? 'errored' : 'unscored';
    }
    const [start, end] = [after.starts[row]!, after.starts[row + 1]!];
    if (end - start !== before.starts[row + 1]! - before.starts[row]!) return 'changed';
    for (let at = start; at < end; at++) {
      const code = after.codes[at]!;
      if (!whole[code] || shareOf(before, row, places[code]!) !== after.shares[at]) return 'changed';
    }
    return 'same';
  };
}

/**
 * Rows by their label in the baseline and in another experiment: a list for each value of the baseline, with a number for
 * each value of the other one, in the order of `values`; after them what has another label, then what has none. Each run of
 * a row in the baseline is held against each of its runs in the experiment, and all of them together count as 1. Rows that
 * one of the two does not have are left out.
 */
export function transitions(
  { rows, experiments }: ScoreTable,
  { key, values }: CategoryComparison,
  experiment: number,
): number[][] {
  const [baseline, other] = [experiments[0]!, experiments[experiment]!];
  const none = values.length + 1;
  const matrix = Array.from({ length: none + 1 }, () => new Array<number>(none + 1).fill(0));
  const [before, after] = [baseline, other].map(({ labels }) => sharesOf(labels.get(key), values)) as [Shares, Shares];
  for (let row = 0; row < rows; row++) {
    if (!baseline.runs[row] || !other.runs[row]) continue;
    const to = after(row);
    for (const [from, part] of before(row)) for (const [place, share] of to) matrix[from]![place]! += part * share;
  }
  return matrix.map((line) => line.map(tidy));
}

function isAlone({ starts }: KeyLabels, row: number): boolean {
  return starts[row + 1]! - starts[row]! === 1;
}

type Shares = (row: number) => ReadonlyMap<number, number>;

/** The share of each value of a row by its place, after all of them what has another label, then what has none. */
function sharesOf(column: KeyLabels | undefined, values: readonly string[]): Shares {
  const places = placesIn(values, column);
  const none = new Map([[values.length + 1, 1]]);
  const alone = Array.from(places, (place) => new Map([[place < 0 ? values.length : place, 1]]));
  return (row) => {
    if (!column || !hasLabel(column, row)) return none;
    if (isAlone(column, row)) return alone[column.codes[column.starts[row]!]!]!;
    const shares = new Map<number, number>();
    for (let at = column.starts[row]!; at < column.starts[row + 1]!; at++) {
      const found = places[column.codes[at]!]!;
      const place = found < 0 ? values.length : found;
      shares.set(place, (shares.get(place) ?? 0) + column.shares[at]!);
    }
    return shares;
  };
}
