import { ID_BYTES } from '@fairlead/runs';

/** Measures of runs beside their scores: seconds, tokens and cost. */
export const MEASURES = ['latency', 'tokens', 'cost'] as const;
export type Measure = (typeof MEASURES)[number];

export interface KeyScores {
  readonly means: Float64Array;
  readonly runs: number;
  /** Number of scores: more than runs where one has several. */
  readonly scores: number;
  /** The mean standard deviation of the runs of a row, over rows with several that are scored; undefined without any. */
  readonly spread?: number;
  /**
   * The standard deviation that the mean of all rows has when the same rows are run again, from the runs of a row that
   * differ; undefined where no row has several.
   */
  readonly noise?: number;
  /** True when every single score is 0 or 1. */
  readonly passFail: boolean;
  readonly least: number;
  readonly most: number;
  /** The first and the last, by name, of the kinds of source that scores come from. */
  readonly sources: readonly string[];
}

/**
 * Labels (values that are no scores, such as `friendly`) of one key in one experiment. A row counts as 1: its labelled runs
 * have equal parts of it, and the labels of a run equal parts of that.
 */
export interface KeyLabels {
  readonly labels: readonly string[];
  /** The labels of row `r` stand in `codes` and `shares` from `starts[r]` to before `starts[r + 1]`, ascending. */
  readonly starts: Int32Array;
  /** Places in `labels`. */
  readonly codes: Int32Array;
  readonly shares: Float64Array;
  readonly runs: number;
}

export interface ExperimentScores {
  readonly id: string;
  readonly name: string;
  /** False while rows of an upload are still being stored. */
  readonly persisted: boolean;
  readonly runCount: number;
  readonly errorCount: number;
  readonly runs: Uint16Array;
  readonly failed: Uint16Array;
  /** The version of the example that was run, as seconds since 1970 by row; NaN where it is not known. */
  readonly versions: Float64Array;
  readonly latencies: Float64Array;
  /** Without those that no run has. */
  readonly measures: ReadonlyMap<Measure, KeyScores>;
  readonly keys: ReadonlyMap<string, KeyScores>;
  readonly labels: ReadonlyMap<string, KeyLabels>;
  readonly structures: ReadonlyMap<string, ReadonlySet<number>>;
}

export type LabelValues = ReadonlyMap<string, number>;

export interface ScoreTable {
  readonly rows: number;
  /** Ids of the examples, 16 bytes each. */
  readonly ids: Buffer;
  readonly experiments: readonly ExperimentScores[];
  readonly labelValues: ReadonlyMap<string, LabelValues>;
  /** Keys that were left out because they do not fit into memory or time with the others. */
  readonly unread: readonly string[];
}

export interface Compared {
  readonly id: string;
  readonly name: string;
  readonly persisted: boolean;
  /** Experiments whose runs count as repetitions of those of this one. */
  readonly repeatedBy?: readonly string[];
}

export function exampleIdAt({ ids }: ScoreTable, row: number): string {
  const hex = ids.toString('hex', row * ID_BYTES, (row + 1) * ID_BYTES);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
