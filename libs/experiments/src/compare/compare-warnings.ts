import type { Warning } from './compare.answers.schema';
import { unvaluedLabels } from './labels';
import type { ExperimentScores, ScoreTable } from './score-table';

export interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

/** Warnings in an answer: there can be several for each key and experiment. */
const MOST_WARNINGS = 500;

export function warningsOf(table: ScoreTable, keys: readonly string[], bounds: ReadonlyMap<string, Bounds>): Warning[] {
  const [baseline, ...others] = table.experiments;
  const warnings: Warning[] = [];
  for (const { id, name, persisted } of table.experiments) {
    if (!persisted) {
      warnings.push({
        code: 'rows being stored',
        experiment: id,
        message: `The rows of ${name} are still being stored.`,
      });
    }
  }
  if (!baseline) return warnings;
  for (const other of others) warnings.push(...rowWarnings(table, baseline, other));
  for (const key of keys) warnings.push(...scoreWarnings(table, key, bounds.get(key)));
  for (const [place, { id, name, structures }] of table.experiments.entries()) {
    for (const key of table.labelValues.keys()) {
      const found = unvaluedLabels(table, place, key);
      if (!found) continue;
      const message = `${name} has labels of ${key} that have no value, in ${found.rows} rows: ${found.shown}.`;
      warnings.push({ code: 'labels without a value', experiment: id, key, rows: found.rows, message });
    }
    for (const [key, { size }] of structures) {
      const message = `${name} has objects or lists as values of ${key} in ${size} rows, which are not compared.`;
      warnings.push({ code: 'values not compared', experiment: id, key, rows: size, message });
    }
  }
  return warnings;
}

export function keptWarnings(warnings: readonly Warning[]): Warning[] {
  if (warnings.length <= MOST_WARNINGS) return [...warnings];
  const kept = warnings.slice(0, MOST_WARNINGS - 1);
  const further = warnings.length - kept.length;
  return [...kept, { code: 'warnings left out', message: `${further} further warnings are left out.` }];
}

function rowWarnings(table: ScoreTable, baseline: ExperimentScores, other: ExperimentScores): Warning[] {
  let [versions, missing, extra] = [0, 0, 0];
  for (let row = 0; row < table.rows; row++) {
    const [had, has] = [baseline.runs[row]! > 0, other.runs[row]! > 0];
    if (had && has) {
      if (Math.abs(baseline.versions[row]! - other.versions[row]!) > 0) versions++;
    } else if (had) missing++;
    else if (has) extra++;
  }
  const warnings: Warning[] = [];
  if (versions > 0) {
    const message = `${versions} rows were run on other versions of their examples: inputs or expected outputs differ.`;
    warnings.push({ code: 'example versions differ', experiment: other.id, rows: versions, message });
  }
  if (missing + extra > 0) {
    const message = `${other.name} lacks ${missing} rows of the baseline and has ${extra} others.`;
    warnings.push({ code: 'row sets differ', experiment: other.id, rows: missing + extra, message });
  }
  return warnings;
}

function scoreWarnings({ experiments, labelValues }: ScoreTable, key: string, bounds: Bounds | undefined): Warning[] {
  const scores = experiments.flatMap((experiment) => experiment.keys.get(key) ?? []);
  const warnings: Warning[] = experiments
    .filter((experiment) => !experiment.keys.has(key))
    .map(({ id, name, labels }) => {
      const message = labels.has(key)
        ? `${name} has labels of ${key} in place of scores.`
        : `${name} has no score of ${key}.`;
      return { code: labels.has(key) ? 'score kinds differ' : 'key not scored', key, experiment: id, message };
    });
  // Labels that have values are 0 and 1 by chance.
  if (!labelValues.has(key) && new Set(scores.map(({ passFail }) => passFail)).size > 1) {
    const message = `Some experiments score ${key} as 0 or 1, others with further numbers.`;
    warnings.push({ code: 'score kinds differ', key, message });
  }
  if (new Set(scores.map(({ sources }) => sources.join())).size > 1) {
    const message = `The scores of ${key} come from different kinds of source: ${sourcesOf(scores).join(', ')}.`;
    warnings.push({ code: 'score sources differ', key, message });
  }
  for (const { id, name, keys } of experiments) {
    const { runs = 0, scores: count = 0 } = keys.get(key) ?? {};
    if (count === runs) continue;
    const message = `${name} has ${count} scores of ${key} on ${runs} runs: a run counts with the mean of its scores.`;
    warnings.push({ code: 'several scores on a run', key, experiment: id, message });
  }
  const { min = -Infinity, max = Infinity } = bounds ?? {};
  if (scores.some(({ least, most }) => least < min || most > max)) {
    const message = `Some scores of ${key} are outside the range of its configuration, so experiments may use different ones.`;
    warnings.push({ code: 'scores outside configuration', key, message });
  }
  return warnings;
}

function sourcesOf(scores: readonly { readonly sources: readonly string[] }[]): string[] {
  return [...new Set(scores.flatMap(({ sources }) => sources))].sort();
}
