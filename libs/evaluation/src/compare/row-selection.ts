import { BadRequest, note, optional, refine, str, uuid } from '@fairlead/schema';
import { oneOrMany } from '@fairlead/runs';
import { type LabelKind, labelKinds } from './categories';
import type { Direction, KeyComparison } from './compare.answers.schema';
import { ROW_KINDS, type RowKind, rowKind } from './compare-results';
import { labelTests } from './labels';
import { type Measure, MEASURES, type ScoreTable } from './score-table';
import { chosenSlice } from './slice';

export interface SelectableRows {
  readonly table: ScoreTable;
  readonly keys: readonly KeyComparison[];
  readonly directions: ReadonlyMap<string, Direction>;
  readonly worst: Float64Array;
  readonly order: Uint32Array;
}

/** Outcomes that a filter can ask for: `changed` is another label, or a score that is better or worse. */
const KINDS = [...ROW_KINDS, 'changed'] as const;

interface RowFilter {
  readonly experiment: string;
  readonly key: string;
  readonly kinds: readonly (RowKind | LabelKind)[];
  readonly label?: { readonly from?: string; readonly to?: string };
}

const SORTS = ['regression', 'improvement', 'row'] as const;
/** The order of rows: over all that is compared, of the examples, or by a difference or measure of one experiment. */
type RowSort =
  | (typeof SORTS)[number]
  | { readonly experiment: string; readonly key: string }
  | { readonly most: Measure; readonly of: string };

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const FILTER = new RegExp(`^(${UUID}):(?:([a-z,]+)|label=([^:,]*),([^:,]*)):(.+)$`, 'is');
const MEASURED = new RegExp(`^(${MEASURES.join('|')}):(${UUID})$`, 'i');
const DIFFERENCE = new RegExp(`^difference:(${UUID}):(.+)$`, 'is');

const MOST_TEXT = 256;
const FILTER_FORM = '<experiment>:<kind,…>:<key> or <experiment>:label=<from>,<to>:<key>';
const SORT_FORM =
  'regression, improvement, row, difference:<experiment>:<key>, or latency, tokens or cost with :<experiment>';
export const chosenRows = {
  rows: optional(
    note(
      oneOrMany(refine(str(), (text) => (parseRowFilter(text) ? undefined : `give ${FILTER_FORM}`))),
      `${FILTER_FORM}: only rows that became one of the kinds ${KINDS.join(', ')}, or whose label went from one to another; of several filters all must hold. Labels are percent-encoded; one that is empty stands for any other label.`,
    ),
  ),
  q: optional(
    note(
      str({ min: 1, max: MOST_TEXT }),
      'Only rows that hold this text in their inputs, expected outputs, outputs or errors, in upper or lower case.',
    ),
  ),
  slice: chosenSlice,
  sort: optional(
    note(
      refine(str(), (text) => (parseRowSort(text) ? undefined : `give ${SORT_FORM}`)),
      `${SORT_FORM}. \`row\` is the order in which the examples were sent. When absent, the worst regression comes first, and the rows of one experiment alone as they were sent. Of a difference the worst comes first, of latency, tokens and cost the highest.`,
    ),
  ),
};

export const shownRows = {
  around: optional(note(uuid(), 'The id of an example: the page that holds its row, in place of `offset`.')),
  comments: note(
    optional(oneOrMany(str())),
    'Feedback keys: cells get the beginnings of the newest comments on these, and their judges; repeatable.',
  ),
};

/** Reads `<experiment>:<kind,…>:<key>` or `…:label=<from>,<to>:…`; the key stands last because it may hold colons. */
export function parseRowFilter(text: string): RowFilter | undefined {
  const [, id, list = '', from, to, key = ''] = FILTER.exec(text) ?? [];
  if (id === undefined) return undefined;
  const experiment = id.toLowerCase();
  if (from !== undefined) {
    const label = { from: decoded(from), to: decoded(to!) };
    // Of two that are empty, and of one that cannot be decoded, nothing would be said.
    if ((label.from ?? label.to) === undefined || (from && !label.from) || (to && !label.to)) return undefined;
    return { experiment, kinds: [], label, key };
  }
  const kinds = list.split(',').flatMap((name) => KINDS.find((kind) => kind === name) ?? []);
  return kinds.length === list.split(',').length ? { experiment, kinds, key } : undefined;
}

function decoded(label: string): string | undefined {
  try {
    return decodeURIComponent(label) || undefined;
  } catch {
    return undefined;
  }
}

export function parseRowSort(text: string): RowSort | undefined {
  const [, experiment, key] = DIFFERENCE.exec(text) ?? [];
  if (experiment !== undefined && key !== undefined) return { experiment: experiment.toLowerCase(), key };
  const [, name, of] = MEASURED.exec(text) ?? [];
  const most = MEASURES.find((measure) => measure === name?.toLowerCase());
  if (most && of) return { most, of: of.toLowerCase() };
  return SORTS.find((sort) => sort === text);
}

interface Selecting {
  readonly filters: readonly RowFilter[];
  readonly sort: RowSort;
  /** Each has, by row of the table, 1 for those that may be chosen. */
  readonly found: readonly Uint8Array[];
  /** Place of each row of the table among the examples, for the order `row`. */
  readonly places?: Uint32Array;
  /** Id of an example, whose row need not be among those that are chosen. */
  readonly around?: string;
}

interface Selection {
  readonly selected: Uint32Array;
  /** Place of the row of `around` in `selected`; null when it is not there. */
  readonly place: number | null;
  /** Number of rows in `selected` that stand before the row of `around`; null when there is no such row. */
  readonly rows_before: number | null;
}

/**
 * Rows of a comparison that pass all filters, in an order. Equal ones stay as they are in the table.
 * @throws BadRequest for an experiment or a key that is not compared
 */
export function selectRows(comparison: SelectableRows, asked: Selecting): Selection {
  const { filters, found, around } = asked;
  const tests = filters.map((filter) => testOf(comparison, filter));
  for (const marks of found) tests.push((row) => marks[row] === 1);
  const passes = (row: number) => tests.every((test) => test(row));
  const kept = around === undefined ? undefined : rowOf(comparison.table, around);
  const { order } = comparison;
  const passing = tests.length === 0 ? order : order.filter((row) => row === kept || passes(row));
  const selected = sorted(comparison, passing, asked);
  if (kept === undefined) return { selected, place: null, rows_before: null };
  const at = selected.indexOf(kept);
  if (passes(kept)) return { selected, place: at, rows_before: at };
  return { selected: selected.filter((row) => row !== kept), place: null, rows_before: at };
}

function sorted(comparison: SelectableRows, passing: Uint32Array, { sort, places }: Selecting): Uint32Array {
  if (sort === 'regression') return passing;
  if (sort === 'improvement') return ranked(passing, (row) => -comparison.worst[row]!);
  if (sort === 'row') return passing.slice().sort((a, b) => (places ? places[a]! - places[b]! : a - b));
  if ('most' in sort) {
    const of = comparison.table.experiments.find(({ id }) => id === sort.of);
    if (!of) throw new BadRequest(`Session ${sort.of} is not compared.`);
    const means = of.measures.get(sort.most)?.means;
    return ranked(passing, (row) => means?.[row] ?? NaN);
  }
  const { baseline, other, higher } = columnsOf(comparison, sort);
  return ranked(passing, (row) => (higher ? 1 : -1) * ((baseline?.[row] ?? NaN) - (other?.[row] ?? NaN)));
}

/** The row of an example in the table; undefined without one. */
function rowOf({ ids, rows }: ScoreTable, example: string): number | undefined {
  const id = Buffer.from(example.replaceAll('-', ''), 'hex');
  for (let row = 0; row < rows; row++) if (ids.compare(id, 0, 16, row * 16, row * 16 + 16) === 0) return row;
  return undefined;
}

/** Where the page of so many rows begins that holds the row at a place; undefined without one. */
export function pageOffset(place: number | null, limit: number): number | undefined {
  return place === null ? undefined : place - (place % Math.max(1, limit));
}

/** The largest first, what is not compared last. */
function ranked(rows: Uint32Array, rankOf: (row: number) => number): Uint32Array {
  const ranks = new Map<number, number>();
  for (const row of rows) {
    const rank = rankOf(row);
    ranks.set(row, Number.isNaN(rank) ? -Infinity : rank);
  }
  return rows.slice().sort((a, b) => {
    const [one, two] = [ranks.get(a)!, ranks.get(b)!];
    return one === two ? a - b : two - one;
  });
}

function testOf(comparison: SelectableRows, filter: RowFilter): (row: number) => boolean {
  const { table } = comparison;
  const { experiment, key, kinds, label } = filter;
  const place = placeOfExperiment(comparison, experiment);
  const wanted = new Set<RowKind | LabelKind | undefined>(kinds);
  const labelled = table.experiments.some(({ labels }) => labels.has(key));
  if (label) {
    if (!labelled) throw new BadRequest(`The key ${JSON.stringify(key)} has no labels.`);
    return labelTests(table, place, key, label);
  }
  if (labelled && !comparison.directions.has(key)) {
    if (wanted.has('better') || wanted.has('worse')) {
      throw new BadRequest(
        `The labels of ${JSON.stringify(key)} have no values, so that none of them is better or worse: give them values, or filter by changed.`,
      );
    }
    const kindOf = labelKinds(table, place, key);
    return (row) => wanted.has(kindOf(row));
  }
  const { higher, other, baseline, of } = columnsOf(comparison, filter);
  if (wanted.delete('changed')) wanted.add('better').add('worse');
  return (row) => wanted.has(rowKind(table.experiments[0]!, of, [baseline, other], row, higher));
}

function placeOfExperiment({ table }: SelectableRows, experiment: string): number {
  const place = table.experiments.findIndex(({ id }) => id === experiment);
  if (place < 1) throw new BadRequest(`Session ${experiment} is not compared with the baseline.`);
  return place;
}

/** The means by row of a key in the baseline and in one experiment. @throws BadRequest */
function columnsOf(comparison: SelectableRows, { experiment, key }: { experiment: string; key: string }) {
  const { table, directions } = comparison;
  const of = table.experiments[placeOfExperiment(comparison, experiment)]!;
  const direction = directions.get(key);
  if (!direction) throw new BadRequest(`The key ${JSON.stringify(key)} is not compared.`);
  const baseline = table.experiments[0]!.keys.get(key)?.means;
  return { of, baseline, other: of.keys.get(key)?.means, higher: direction === 'higher is better' };
}
