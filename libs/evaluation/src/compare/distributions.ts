import { compareCategories, transitions } from './categories';
import { kindOf } from './compare-results';
import type { ExperimentScores, ScoreTable } from './score-table';
import type { Comparison } from './comparisons.service';
import { quantile } from './comparison';

const GRID = 20;
/** At which parts of the runs latencies are told. */
export const FRACTIONS = [0, 0.01, ...Array.from({ length: 19 }, (_, place) => (place + 1) / 20), 0.99, 1];

/**
 * Returns the distribution of the scores or labels of one key in each experiment; undefined for a key that none of them has. Labels
 * that have values are told as labels.
 */
export async function distributionsOf({ table }: Comparison, key: string, bins: number) {
  const latencies = table.experiments.map((one) => FRACTIONS.map((fraction) => quantile(one.latencies, fraction)));
  const labelled = table.experiments.some(({ labels }) => labels.has(key));
  if (table.experiments.some(({ keys, labels }) => keys.has(key) && !(table.labelValues.has(key) && labels.has(key)))) {
    const kind = kindOf(table, key);
    const edges = edgesOf(table, key, kind === 'pass/fail' ? 2 : bins);
    const gridEdges = kind === 'pass/fail' ? edges : edgesOf(table, key, GRID);
    const results = table.experiments.map((experiment, place) => ({
      experiment: experiment.id,
      counts: histogram(experiment, key, edges),
      grid: place === 0 ? null : gridOf(table, key, gridEdges, experiment),
      latency: latencies[place]!,
    }));
    return { kind, edges, grid_edges: gridEdges, values: null, results };
  }
  if (!labelled) return undefined;
  const compared = await compareCategories(table, key);
  const results = compared.results.map(({ experiment, counts, other }, place) => ({
    experiment,
    counts: [...counts, other],
    grid: place === 0 ? null : transitions(table, compared, place),
    latency: latencies[place]!,
  }));
  return { kind: compared.kind, edges: null, grid_edges: null, values: compared.values, results };
}

function edgesOf({ experiments }: ScoreTable, key: string, bins: number): number[] {
  let [least, most] = [Infinity, -Infinity];
  for (const experiment of experiments) {
    for (const mean of experiment.keys.get(key)?.means ?? []) {
      if (mean < least) least = mean;
      if (mean > most) most = mean;
    }
  }
  // Of scores that are all the same, one side is made up.
  if (least === most) [least, most] = least === 1 ? [0, 1] : [least, least + 1];
  // Halves, because the difference of two doubles may be beyond the largest one.
  return Array.from({ length: bins + 1 }, (_, place) =>
    place === bins ? most : 2 * (least / 2 + (most / 2 - least / 2) * (place / bins)),
  );
}

function histogram(experiment: ExperimentScores, key: string, edges: readonly number[]): number[] {
  const counts = new Array<number>(edges.length - 1).fill(0);
  for (const mean of experiment.keys.get(key)?.means ?? []) {
    if (!Number.isNaN(mean)) counts[binOf(mean, edges)]!++;
  }
  return counts;
}

function gridOf(table: ScoreTable, key: string, edges: readonly number[], experiment: ExperimentScores): number[][] {
  const bins = edges.length - 1;
  const grid = Array.from({ length: bins }, () => new Array<number>(bins).fill(0));
  const [before, after] = [table.experiments[0]!.keys.get(key)?.means, experiment.keys.get(key)?.means];
  if (!before || !after) return grid;
  for (let row = 0; row < table.rows; row++) {
    const [from, to] = [before[row]!, after[row]!];
    if (!Number.isNaN(from) && !Number.isNaN(to)) grid[binOf(from, edges)]![binOf(to, edges)]!++;
  }
  return grid;
}

/** The bin of a number; one on an edge belongs to the bin above it, the largest one to the last bin. */
function binOf(value: number, edges: readonly number[]): number {
  let [low, high] = [0, edges.length - 2];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (value >= edges[middle]!) low = middle;
    else high = middle - 1;
  }
  return low;
}
