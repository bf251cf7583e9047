import { preview } from '@fairlead/runs';
import type {
  CategoryComparison,
  ExperimentScores,
  KeyComparison,
  KeyResult,
  MeasureComparison,
} from './compare.answers.schema';
import type { Comparison } from './comparisons.service';

const SUMMARY_BYTES = 3900;
const NAME_BYTES = 60;
/** Bytes that the names of all experiments have in a summary. */
const NAMES_BYTES = 600;

export function comparisonJson(datasetId: string, comparison: Comparison) {
  const { table, keys, measures, categories, experimentScores, latencies, warnings } = comparison;
  return {
    dataset_id: datasetId,
    baseline: table.experiments[0]!.id,
    rows: table.rows,
    experiments: table.experiments.map(({ id, name, runCount, errorCount }, index) => ({
      id,
      name,
      run_count: runCount,
      error_count: errorCount,
      error_rate: runCount ? errorCount / runCount : null,
      latency: latencies[index]!,
    })),
    keys,
    measures,
    categories,
    experiment_scores: experimentScores,
    warnings,
  };
}

/** The comparison in less than 4 KB: rounded, warnings by their codes, and as many keys as fit. */
export function summaryJson(datasetId: string, comparison: Comparison) {
  const { table, keys, measures, categories, experimentScores, latencies, warnings } = comparison;
  const summary = {
    dataset_id: datasetId,
    baseline: table.experiments[0]!.id,
    rows: table.rows,
    experiments: table.experiments.map(({ id, name, runCount, errorCount }, index) => ({
      id,
      name: preview(name, Math.min(NAME_BYTES, Math.floor(NAMES_BYTES / table.experiments.length))),
      errors: errorCount,
      runs: runCount,
      p50: rounded(latencies[index]?.p50),
      p99: rounded(latencies[index]?.p99),
    })),
    keys: [] as ReturnType<typeof shortKey>[],
    categories: [] as ReturnType<typeof shortCategory>[],
    experiment_scores: [] as ReturnType<typeof shortScores>[],
    measures: [] as ReturnType<typeof shortMeasure>[],
    warnings: [...new Set(warnings.map(({ code }) => code))],
    omitted: 0,
  };
  const addWhatFits = <T>(list: T[], items: readonly T[]) => {
    for (const item of items) {
      list.push(item);
      if (Buffer.byteLength(JSON.stringify(summary)) <= SUMMARY_BYTES) continue;
      list.pop();
      summary.omitted++;
    }
  };
  addWhatFits(summary.keys, keys.map(shortKey));
  addWhatFits(summary.categories, categories.map(shortCategory));
  addWhatFits(summary.experiment_scores, experimentScores.map(shortScores));
  addWhatFits(summary.measures, measures.map(shortMeasure));
  return summary;
}

function shortKey({ key, direction, results }: KeyComparison) {
  return { key: preview(key, NAME_BYTES), direction, results: results.map(shortResult) };
}

function shortMeasure({ measure, results }: MeasureComparison) {
  return { measure, results: results.map(shortResult) };
}

function shortScores({ key, results }: ExperimentScores) {
  return { key: preview(key, NAME_BYTES), values: results.map(({ value }) => rounded(value)) };
}

function shortCategory({ key, results }: CategoryComparison) {
  return {
    key: preview(key, NAME_BYTES),
    results: results.slice(1).map(({ p, verdict, row_counts: rows }, place) => ({
      ...{ experiment: place + 1, same: rows?.same ?? 0, changed: rows?.changed ?? 0 },
      ...{ p: rounded(p), verdict: verdict ?? ('not clear' as const) },
    })),
  };
}

function shortResult(result: KeyResult, experiment: number) {
  const { counts, test } = result;
  if (!counts || !test) return { experiment, mean: rounded(result.mean) };
  return {
    experiment,
    mean: rounded(result.mean),
    difference: rounded(result.difference),
    low: rounded(test.interval?.low),
    high: rounded(test.interval?.high),
    p: rounded(test.p),
    n: test.n,
    verdict: result.verdict,
    better: counts.better,
    worse: counts.worse,
  };
}

function rounded(value: number | null | undefined): number | null {
  return typeof value === 'number' ? Number(value.toPrecision(4)) : null;
}
