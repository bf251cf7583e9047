import type { Cell, Column } from './table';
import { clean, percent, probability, score, seconds } from './text';

interface KeyResult {
  readonly experiment: string;
  readonly mean: number | null;
  readonly scored: number;
  /** Runs with a score; absent in the answer of an older service. */
  readonly runs?: number;
  readonly spread?: number;
  readonly difference?: number | null;
  readonly verdict?: 'better' | 'worse' | 'not clear';
  readonly test?: {
    readonly p: number | null;
    readonly interval: { readonly low: number; readonly high: number } | null;
  };
  readonly counts?: Readonly<
    Record<'better' | 'worse' | 'same' | 'missing' | 'extra' | 'errored' | 'unscored', number>
  >;
}

interface LabelResult {
  readonly experiment: string;
  readonly counts: readonly number[];
  readonly other: number;
  readonly p?: number | null;
  readonly verdict?: 'changed' | 'not clear';
  readonly row_counts?: Readonly<Record<'same' | 'changed', number>>;
  readonly changes?: readonly { readonly from: string | null; readonly to: string | null; readonly rows: number }[];
}

/** The members of a comparison that the command line reads. */
export interface Comparison {
  readonly dataset_id: string;
  readonly baseline: string;
  readonly rows: number;
  readonly experiments: readonly {
    readonly id: string;
    readonly name: string;
    readonly run_count: number | null;
    readonly error_rate: number | null;
    readonly latency: {
      readonly p50: number | null;
      readonly p99: number | null;
      readonly p50_difference?: number | null;
      readonly p99_difference?: number | null;
    };
  }[];
  readonly keys: readonly {
    readonly key: string;
    readonly direction: 'higher is better' | 'lower is better';
    readonly results: readonly KeyResult[];
  }[];
  /** Absent in the answer of an older service. */
  readonly measures?: readonly {
    readonly measure: keyof typeof MEASURES;
    readonly results: readonly KeyResult[];
  }[];
  /** Absent in the answer of an older service. */
  readonly categories?: readonly {
    readonly key: string;
    readonly values: readonly string[];
    readonly label_values?: readonly (number | null)[];
    readonly results: readonly LabelResult[];
  }[];
  /** Scores of whole experiments; absent in the answer of an older service. */
  readonly experiment_scores?: readonly {
    readonly key: string;
    readonly direction: 'higher is better' | 'lower is better';
    readonly results: readonly {
      readonly experiment: string;
      readonly value: number | null;
      readonly values: Readonly<Record<string, number>>;
      readonly difference?: number | null;
    }[];
  }[];
  readonly warnings: readonly { readonly message: string }[];
  readonly page: { readonly rows: readonly ComparedRow[] };
}

interface ComparedRow {
  readonly example_id: string;
  readonly inputs_preview: string | null;
  readonly reference_outputs_preview: string | null;
  readonly regression: number | null;
  readonly cells: readonly ({
    readonly error_preview: string | null;
    readonly outputs_preview: string | null;
    readonly scores: readonly (number | null)[];
    /** Absent in the answer of an older service. */
    readonly labels?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  } | null)[];
}

/** The members of a slice that the command line reads. */
export interface ComparedSlice {
  readonly slice: string;
  readonly experiment: string;
  readonly measure: 'score' | 'errors' | keyof typeof MEASURES;
  readonly key: string | null;
  readonly rows: number;
  readonly baseline_mean: number | null;
  readonly mean: number | null;
  readonly difference: number | null;
  readonly adjusted_p: number;
}

export const SLICE_COLUMNS: readonly Column[] = [
  { title: 'WHERE IT GOT WORSE', whole: true },
  { title: 'EXPERIMENT', whole: true },
  { title: 'SCORE' },
  { title: 'ROWS', right: true },
  { title: 'BEFORE', right: true },
  { title: 'AFTER', right: true },
  { title: 'DIFFERENCE', right: true },
  { title: 'P', right: true },
];

/** A line for each slice; `errors`, seconds, tokens or cost stand in the place of a score. */
export function sliceRows({ experiments }: Comparison, slices: readonly ComparedSlice[], cell: CellOf): Cell[][] {
  const names = new Map(experiments.map(({ id, name }) => [id, clean(name)]));
  return slices.map(({ slice, experiment, measure, key, rows, baseline_mean, mean, difference, adjusted_p }) => {
    const figure = measure === 'errors' ? percent : score;
    const name = measure === 'score' || measure === 'errors' ? (key ?? measure) : MEASURES[measure];
    return [
      cell('bold', clean(slice)),
      names.get(experiment) ?? '-',
      clean(name),
      String(rows),
      ...[baseline_mean, mean].map((one) => figure(one)),
      cell('red', signed(difference, figure)),
      probability(adjusted_p),
    ];
  });
}

type CellOf = (style: 'bold' | 'dim' | 'red' | 'green', text: string) => Cell;

export const EXPERIMENT_COLUMNS: readonly Column[] = [
  { title: 'EXPERIMENT', whole: true },
  { title: 'RUNS', right: true },
  { title: 'ERRORS', right: true },
  { title: 'P50', right: true },
  { title: '', right: true },
  { title: 'P99', right: true },
  { title: '', right: true },
  { title: 'ID', id: true },
];

/** A line for each experiment, the baseline's first. */
export function experimentRows({ experiments }: Comparison, cell: CellOf): Cell[][] {
  return experiments.map(({ id, name, run_count, error_rate, latency }, index) => [
    cell('bold', clean(name) + (index === 0 ? ' (baseline)' : '')),
    String(run_count ?? '…'),
    percent(error_rate),
    seconds(latency.p50),
    signed(latency.p50_difference, seconds),
    seconds(latency.p99),
    signed(latency.p99_difference, seconds),
    id,
  ]);
}

const MEASURES = { latency: 'seconds', tokens: 'tokens', cost: 'cost' } as const;

/** A line for each measure and experiment, in the form of those of scores; none where only latencies are known. */
export function measureTable(comparison: Comparison, cell: CellOf, room: number) {
  const { measures = [] } = comparison;
  const known = measures.every(({ measure }) => measure === 'latency') ? [] : measures;
  const lines = known.map(({ measure, results }) => ({ key: MEASURES[measure], results }));
  return resultTable('USED BY A RUN', lines, comparison, cell, room);
}

export function keyTable(comparison: Comparison, cell: CellOf, room: number) {
  const keys = comparison.keys.map(({ key, direction, results }) => {
    return { key: clean(key) + (direction === 'lower is better' ? ' (lower is better)' : ''), results };
  });
  return resultTable('SCORE', keys, comparison, cell, room);
}

/**
 * A line for each key and experiment; those that are significantly better or worse are marked. Without room for all
 * columns, the interval is left out.
 */
function resultTable(
  title: string,
  keys: readonly { readonly key: string; readonly results: readonly KeyResult[] }[],
  { experiments }: Comparison,
  cell: CellOf,
  room: number,
) {
  const apart = keys.some(({ results }) => results.some(({ counts }) => notCompared(counts) > 0));
  const left = new Set([...(room < WIDE ? [INTERVAL] : []), ...(apart ? [] : [OTHER])]);
  const names = new Map(experiments.map(({ id, name }) => [id, clean(name)]));
  const rows = keys.flatMap(({ key, results }) =>
    results.map((result, index) => {
      const title = index === 0 ? cell('bold', key) : '';
      const all = experiments.find(({ id }) => id === result.experiment)?.run_count ?? 0;
      return [title, names.get(result.experiment) ?? '-', ...resultCells(result, all, cell)];
    }),
  );
  return {
    columns: [{ title, whole: true }, ...KEY_COLUMNS.slice(1).filter((column) => !left.has(column))],
    rows: rows.map((row) => row.filter((_, index) => !left.has(KEY_COLUMNS[index]!))),
  };
}

export const CATEGORY_COLUMNS: readonly Column[] = [
  { title: 'VALUES OF', whole: true },
  { title: 'EXPERIMENT', whole: true },
  { title: 'P', right: true },
  { title: '' },
  { title: 'SAME', right: true },
  { title: 'CHANGED', right: true },
  { title: 'ROWS' },
  { title: 'CHANGES' },
];

/** A line for each key with labels instead of scores, and each experiment. */
export function categoryRows({ experiments, categories = [] }: Comparison, cell: CellOf): Cell[][] {
  const names = new Map(experiments.map(({ id, name }) => [id, clean(name)]));
  return categories.flatMap(({ key, values, label_values: numbers, results }) =>
    results.map((result, index) => {
      const told = values.map((value, place) => {
        const number = numbers?.[place] ?? null;
        return `${clean(value)}${number === null ? '' : ` (${short(number)})`} ${short(result.counts[place] ?? 0)}`;
      });
      const rows = [...told, ...(result.other > 0 ? [`others ${short(result.other)}`] : [])].join(', ');
      const title = index === 0 ? cell('bold', clean(key)) : '';
      return [title, names.get(result.experiment) ?? '-', ...changeCells(result, cell), rows, changesOf(result)];
    }),
  );
}

function changeCells({ p, verdict, row_counts: rows }: LabelResult, cell: CellOf): Cell[] {
  if (!rows) return ['', '', '', ''];
  const mark = verdict === 'changed' ? cell('bold', '≠ changed') : cell('dim', 'unclear');
  return [probability(p), mark, String(rows.same), String(rows.changed)];
}

function changesOf({ changes = [] }: LabelResult): string {
  const name = (label: string | null) => (label === null ? 'others' : clean(label));
  return changes.map(({ from, to, rows }) => `${name(from)} → ${name(to)} ${short(rows)}`).join(', ');
}

export const WHOLE_COLUMNS: readonly Column[] = [
  { title: 'WHOLE EXPERIMENT', whole: true },
  { title: 'EXPERIMENT', whole: true },
  { title: 'VALUE', right: true },
  { title: 'DIFFERENCE', right: true },
];

/** A line for each score of whole experiments, and each experiment. */
export function wholeRows({ experiments, experiment_scores = [] }: Comparison, cell: CellOf): Cell[][] {
  const names = new Map(experiments.map(({ id, name }) => [id, clean(name)]));
  return experiment_scores.flatMap(({ key, direction, results }) =>
    results.map(({ experiment, value, values, difference }, index) => {
      const title = clean(key) + (direction === 'lower is better' ? ' (lower is better)' : '');
      const labels = Object.entries(values).map(([label, count]) => (count > 1 ? `${label} ${count}` : label));
      const shown = value === null ? clean(labels.join(', ')) || '-' : score(value);
      return [index === 0 ? cell('bold', title) : '', names.get(experiment) ?? '-', shown, signed(difference, short)];
    }),
  );
}

/** Columns of a terminal in which the interval fits. */
const WIDE = 110;
const INTERVAL: Column = { title: '95 % INTERVAL', right: true };
const OTHER: Column = { title: 'OTHER', right: true };
const KEY_COLUMNS: readonly Column[] = [
  { title: 'SCORE', whole: true },
  { title: 'EXPERIMENT', whole: true },
  { title: 'MEAN', right: true },
  { title: 'SCORED', right: true },
  { title: 'DIFFERENCE', right: true },
  INTERVAL,
  { title: 'P', right: true },
  { title: '' },
  { title: 'BETTER', right: true },
  { title: 'WORSE', right: true },
  { title: 'SAME', right: true },
  OTHER,
];

function resultCells(result: KeyResult, all: number, cell: CellOf): Cell[] {
  const { mean, spread, scored, runs = scored, difference, counts, test } = result;
  const own = [score(mean) + (spread === undefined ? '' : ` ± ${short(spread)}`), `${runs} of ${all}`];
  if (!counts) return own;
  return [
    ...own,
    signed(difference, short),
    test?.interval ? `${signed(test.interval.low, short)} … ${signed(test.interval.high, short)}` : '-',
    probability(test?.p),
    mark(result, cell),
    ...[counts.better, counts.worse, counts.same, notCompared(counts)].map(String),
  ];
}

/** Rows that only one of the two has, that failed or that have no score. */
function notCompared(counts: KeyResult['counts']): number {
  return counts ? counts.missing + counts.extra + counts.errored + counts.unscored : 0;
}

function mark({ verdict }: KeyResult, cell: CellOf): Cell {
  if (verdict === 'better') return cell('green', '▲ better');
  if (verdict === 'worse') return cell('red', '▼ worse');
  return cell('dim', 'unclear');
}

/** Rows that got worse, the worst first. */
export function regressed({ page }: Comparison): ComparedRow[] {
  return page.rows.filter(({ regression }) => regression !== null && regression > 0);
}

/** Name, output and scores of each experiment for a row. */
export function rowCells({ experiments, keys }: Comparison, { cells }: ComparedRow): [string, string, string][] {
  return cells.map((cell, index) => {
    const name = clean(experiments[index]?.name ?? '');
    if (!cell) return [name, 'not run', ''];
    const scores = keys.flatMap(({ key }, place) => {
      const value = cell.scores[place];
      return value === null || value === undefined ? [] : [`${clean(key)} ${score(value)}`];
    });
    for (const [key, shares] of Object.entries(cell.labels ?? {})) {
      const labels = Object.entries(shares).map(
        ([label, share]) => clean(label) + (share < 1 ? ` ${short(share)}` : ''),
      );
      scores.push(`${clean(key)} ${labels.join(', ')}`);
    }
    const { error_preview: error, outputs_preview: outputs } = cell;
    return [name, clean(error === null ? (outputs ?? '-') : `error: ${error}`), scores.join(', ')];
  });
}

function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}

function signed(value: number | null | undefined, show: (value: number) => string): string {
  if (value === null || value === undefined) return '';
  return value > 0 ? `+${show(value)}` : show(value);
}
