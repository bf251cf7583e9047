import type { Warning } from './compare.answers.schema';
import { unvaluedLabels } from './labels';
import type { ExperimentScores, ScoreTable } from './score-table';

export interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

/** Warnings in an answer: there can be several for each key and experiment. */
const MOST_WARNINGS = 500;

export function* warningsOf(
  table: ScoreTable,
  keys: readonly string[],
  bounds: ReadonlyMap<string, Bounds>,
): Generator<Warning> {
  const [baseline, ...others] = table.experiments;
  for (const { id, name, persisted } of table.experiments) {
    const message = `The rows of ${name} are still being stored.`;
    if (!persisted) yield { code: 'rows being stored', experiment: id, message };
  }
  if (!baseline) return;
  for (const other of others) yield* rowWarnings(table, baseline, other);
  for (const key of keys) yield* scoreWarnings(table, key, bounds.get(key));
  for (const [place, { id, name, structures }] of table.experiments.entries()) {
    for (const key of table.labelValues.keys()) {
      const found = unvaluedLabels(table, place, key);
      if (!found) continue;
      const message = `${name} has labels of ${key} that have no value, in ${found.rows} rows: ${found.shown}.`;
      yield { code: 'labels without a value', experiment: id, key, rows: found.rows, message };
    }
    for (const [key, { size }] of structures) {
      const message = `${name} has objects or lists as values of ${key} in ${size} rows, which are not compared.`;
      yield { code: 'values not compared', experiment: id, key, rows: size, message };
    }
  }
}

export function keptWarnings(warnings: readonly Warning[]): Warning[] {
  if (warnings.length <= MOST_WARNINGS) return [...warnings];
  const kept = warnings.slice(0, MOST_WARNINGS - 1);
  const further = warnings.length - kept.length;
  return [...kept, { code: 'warnings left out', message: `${further} further warnings are left out.` }];
}

function* rowWarnings(table: ScoreTable, baseline: ExperimentScores, other: ExperimentScores): Generator<Warning> {
  let [versions, missing, extra] = [0, 0, 0];
  for (let row = 0; row < table.rows; row++) {
    const [had, has] = [baseline.runs[row]! > 0, other.runs[row]! > 0];
    if (had && has) {
      if (Math.abs(baseline.versions[row]! - other.versions[row]!) > 0) versions++;
    } else if (had) missing++;
    else if (has) extra++;
  }
  if (versions > 0) {
    const message = `${versions} rows were run on other versions of their examples: inputs or expected outputs differ.`;
    yield { code: 'example versions differ', experiment: other.id, rows: versions, message };
  }
  if (missing + extra > 0) {
    const message = `${other.name} lacks ${missing} rows of the baseline and has ${extra} others.`;
    yield { code: 'row sets differ', experiment: other.id, rows: missing + extra, message };
  }
}

function* scoreWarnings(
  { experiments, labelValues }: ScoreTable,
  key: string,
  bounds: Bounds | undefined,
): Generator<Warning> {
  const scores = experiments.flatMap((experiment) => experiment.keys.get(key) ?? []);
  for (const { id, name, keys, labels } of experiments) {
    if (keys.has(key)) continue;
    const [code, what] = labels.has(key)
      ? (['score kinds differ', `labels of ${key} in place of scores`] as const)
      : (['key not scored', `no score of ${key}`] as const);
    yield { code, key, experiment: id, message: `${name} has ${what}.` };
  }
  // Labels that have values are 0 and 1 by chance.
  if (!labelValues.has(key) && new Set(scores.map(({ passFail }) => passFail)).size > 1) {
    const message = `Some experiments score ${key} as 0 or 1, others with further numbers.`;
    yield { code: 'score kinds differ', key, message };
  }
  if (new Set(scores.map(({ sources }) => sources.join())).size > 1) {
    const message = `The scores of ${key} come from different kinds of source: ${sourcesOf(scores).join(', ')}.`;
    yield { code: 'score sources differ', key, message };
  }
  for (const { id, name, keys } of experiments) {
    const { runs = 0, scores: count = 0 } = keys.get(key) ?? {};
    if (count === runs) continue;
    const message = `${name} has ${count} scores of ${key} on ${runs} runs: a run counts with the mean of its scores.`;
    yield { code: 'several scores on a run', key, experiment: id, message };
  }
  const { min = -Infinity, max = Infinity } = bounds ?? {};
  if (scores.some(({ least, most }) => least < min || most > max)) {
    const message = `Some scores of ${key} are outside the range of its configuration, so experiments may use different ones.`;
    yield { code: 'scores outside configuration', key, message };
  }
}

function sourcesOf(scores: readonly { readonly sources: readonly string[] }[]): string[] {
  return [...new Set(scores.flatMap(({ sources }) => sources))].sort();
}
