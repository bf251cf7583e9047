import { unquoted } from '@fairlead/runs';
import type { ExperimentScores, KeyLabels, ScoreTable } from './score-table';

/** Labels as they were given: each belongs to a run, by its number, and has a place in `labels`. */
export interface GivenLabels {
  readonly labels: readonly string[];
  readonly runs: Int32Array;
  readonly codes: Int32Array;
}

/** Characters that are read of the JSON of a label. */
export const LABEL_CHARACTERS = 100;
/** Different labels of a key that are told apart; texts of which each is another one are no categories. */
const MOST_LABELS = 1000;
const MOST_NAMED = 10;
const OTHERS = '…';

/** Returns true when a label is known as a whole: it was not cut, and does not stand for others. */
export function isWhole(label: string): boolean {
  return label !== OTHERS && label.length < LABEL_CHARACTERS - 2;
}

/** Reads the JSON texts of labels. The most frequent ones are told apart; of equally frequent ones all or none. */
export function givenLabels(runs: readonly number[], texts: readonly string[]): GivenLabels {
  const places = new Map<string, number>();
  const frequencies: number[] = [];
  const codes = new Int32Array(runs.length);
  for (const [at, json] of texts.entries()) {
    const label = unquoted(json);
    const code = places.get(label) ?? places.size;
    places.set(label, code);
    frequencies[code] = (frequencies[code] ?? 0) + 1;
    codes[at] = code;
  }
  const labels = [...places.keys()];
  if (labels.length <= MOST_LABELS) return { labels, runs: Int32Array.from(runs), codes };
  const few = Float64Array.from(frequencies).sort().reverse()[MOST_LABELS]!;
  const kept = labels.filter((label, code) => frequencies[code]! > few && label !== OTHERS);
  const known = new Map(kept.map((label, code) => [label, code]));
  const moved = labels.map((label) => known.get(label) ?? kept.length);
  return { labels: [...kept, OTHERS], runs: Int32Array.from(runs), codes: codes.map((code) => moved[code]!) };
}

export function labelsOfRows(given: GivenLabels, rowOfRun: Int32Array, rows: number): KeyLabels | undefined {
  const count = given.runs.length;
  if (count === 0) return undefined;
  const ofRun = new Uint32Array(rowOfRun.length);
  for (const run of given.runs) ofRun[run]!++;
  const runsOfRow = new Uint32Array(rows);
  let runs = 0;
  for (const [run, labels] of ofRun.entries()) {
    if (labels === 0) continue;
    runs++;
    runsOfRow[rowOfRun[run]!]!++;
  }
  const ends = new Int32Array(rows + 1);
  for (const run of given.runs) ends[rowOfRun[run]! + 1]!++;
  for (let row = 0; row < rows; row++) ends[row + 1]! += ends[row]!;
  const next = ends.slice();
  const entries = new Int32Array(count);
  for (const [entry, run] of given.runs.entries()) entries[next[rowOfRun[run]!]!++] = entry;

  const starts = new Int32Array(rows + 1);
  const codes = new Int32Array(count);
  const shares = new Float64Array(count);
  let end = 0;
  for (let row = 0; row < rows; row++) {
    const ofRow = entries.subarray(ends[row], ends[row + 1]);
    // Always in the same order, because the sum of fractions depends on it.
    if (ofRow.length > 1) {
      ofRow.sort((a, b) => given.codes[a]! - given.codes[b]! || ofRun[given.runs[a]!]! - ofRun[given.runs[b]!]!);
    }
    for (const entry of ofRow) {
      const [code, share] = [given.codes[entry]!, 1 / ofRun[given.runs[entry]!]!];
      if (end === starts[row] || codes[end - 1] !== code) codes[end++] = code;
      shares[end - 1]! += share;
    }
    for (let at = starts[row]!; at < end; at++) shares[at]! /= runsOfRow[row]!;
    starts[row + 1] = end;
  }
  return { labels: given.labels, starts, codes: codes.slice(0, end), shares: shares.slice(0, end), runs };
}

export function hasLabel(column: KeyLabels | undefined, row: number): boolean {
  return column !== undefined && column.starts[row + 1]! > column.starts[row]!;
}

export function shareOf({ starts, codes, shares }: KeyLabels, row: number, code: number): number {
  for (let at = starts[row]!; at < starts[row + 1]!; at++) if (codes[at] === code) return shares[at]!;
  return 0;
}

export type RowLabels = Readonly<Record<string, Readonly<Record<string, number>>>>;

export function rowLabels(
  { labels }: ExperimentScores,
  keys: readonly { readonly key: string }[],
  row: number,
): RowLabels {
  const found = keys.flatMap(({ key }) => {
    const column = labels.get(key);
    if (!column || !hasLabel(column, row)) return [];
    const [start, end] = [column.starts[row]!, column.starts[row + 1]!];
    const shares = [...column.codes.subarray(start, end)].map(
      (code, at) => [column.labels[code]!, tidy(column.shares[start + at]!)] as const,
    );
    // Not as the runs came: the largest share first.
    shares.sort(([one, few], [other, many]) => many - few || (one < other ? -1 : 1));
    return [[key, Object.fromEntries(shares)] as const];
  });
  return Object.fromEntries(found);
}

export function placesIn(labels: readonly string[], column: KeyLabels | undefined): Int32Array {
  const places = new Map(labels.map((label, place) => [label, place]));
  return Int32Array.from(column?.labels ?? [], (label) => places.get(label) ?? -1);
}

export function countLabels({ labels, codes, shares, starts }: KeyLabels) {
  const counts = new Map(labels.map((label) => [label, 0]));
  const sums = new Float64Array(labels.length);
  for (const [at, code] of codes.entries()) sums[code]! += shares[at]!;
  for (const [code, label] of labels.entries()) counts.set(label, tidy(sums[code]!));
  let scored = 0;
  for (let row = 0; row + 1 < starts.length; row++) if (starts[row + 1]! > starts[row]!) scored++;
  return { counts, scored };
}

/** A sum of fractions without the last digits, which depend on the order of the rows. */
export function tidy(value: number): number {
  return Number(value.toFixed(9)) + 0;
}

/** Rows with labels that have no value, and the names of these labels; undefined without any. */
export function unvaluedLabels({ rows, experiments, labelValues }: ScoreTable, place: number, key: string) {
  const [column, numbers] = [experiments[place]!.labels.get(key), labelValues.get(key)];
  if (!column || !numbers) return undefined;
  const without = column.labels.map((label) => !isWhole(label) || !numbers.has(label));
  if (!without.includes(true)) return undefined;
  const counts = new Map<string, number>();
  let found = 0;
  for (let row = 0; row < rows; row++) {
    const codes = column.codes.subarray(column.starts[row], column.starts[row + 1]).filter((code) => without[code]);
    if (codes.length > 0) found++;
    for (const code of codes) counts.set(column.labels[code]!, (counts.get(column.labels[code]!) ?? 0) + 1);
  }
  const ranked = [...counts].sort(([a, few], [b, many]) => many - few || (a < b ? -1 : 1));
  const names = ranked.slice(0, MOST_NAMED).map(([label, count]) => `${label} (${count})`);
  return { rows: found, shown: [...names, ...(ranked.length > MOST_NAMED ? ['…'] : [])].join(', ') };
}

/** Gives whether the label of a row went from one to another; undefined stands for any other label. */
export function labelTests(
  { experiments }: ScoreTable,
  place: number,
  key: string,
  { from, to }: { readonly from?: string; readonly to?: string },
): (row: number) => boolean {
  const has = (experiment: number, wanted: string | undefined, unlike: string | undefined) => {
    const column = experiments[experiment]!.labels.get(key);
    const fits = column?.labels.map((label) => (wanted === undefined ? label !== unlike : label === wanted)) ?? [];
    return (row: number) => {
      for (let at = column?.starts[row] ?? 0; at < (column?.starts[row + 1] ?? 0); at++) {
        if (fits[column!.codes[at]!]) return true;
      }
      return false;
    };
  };
  const [had, came] = [has(0, from, to), has(place, to, from)];
  return (row) => had(row) && came(row);
}
