import { memberSlices } from '@fairlead/blobs';
import { BadRequest } from '@fairlead/schema';
import type { Pool } from 'pg';
import { type Cell, csvLine, oneLine } from '@fairlead/datasets';
import { array, number, object, raw, text, unquoted } from '@fairlead/runs';
import type { Comparison } from './comparisons.service';
import {
  type ExportedLine,
  type ExportedRun,
  findKeyColumns,
  type KeyColumns,
  readLines,
  type RunFeedback,
} from './export-runs.queries';
import type { RowLabels } from './labels';

/** Every line has a value for each column. */
const MOST_COLUMNS = 10_000;
const OF_RUN = ['run_id', 'runs', 'status', 'start_time', 'latency_seconds', 'error', 'outputs', 'metadata'];
const USED = ['prompt_tokens', 'completion_tokens', 'total_tokens', 'total_cost'] as const;

type Lines = (pool: Pool, datasetId: string, comparison: Comparison, selected: Uint32Array) => AsyncGenerator<string>;

export const jsonLines: Lines = async function* (pool, datasetId, comparison, selected) {
  for await (const line of readLines(pool, datasetId, comparison, selected)) yield `${lineJson(line, comparison)}\n`;
};

/**
 * The same as CSV (RFC 4180, UTF-8) with a header line. The columns of one experiment alone have plain names, those of
 * several have the name of the experiment in front. `keys` undefined for all.
 * @throws BadRequest for too many columns
 */
export async function csvExport(
  pool: Pool,
  comparison: Comparison,
  keys: readonly string[] | undefined,
): Promise<Lines> {
  const { table, experimentScores } = comparison;
  const columns = await findKeyColumns(pool, comparison, keys);
  const several = table.experiments.length > 1;
  // The label of one run alone is in a column of its own.
  const repeated = table.experiments.map(({ runs, labels }) =>
    runs.some((count) => count > 1) ? [...labels.keys()].sort() : [],
  );
  const ofWhole = table.experiments.map((_, place) =>
    experimentScores.flatMap(({ key, results }): [string, Cell][] => {
      const { value, values } = results[place]!;
      const labels = Object.keys(values);
      const scores: [string, Cell][] = [[`experiment score ${key}`, value]];
      return labels.length > 0 ? [...scores, [`experiment value ${key}`, labels.join('; ')]] : scores;
    }),
  );
  const header = ['example_id', 'row_id', 'name', 'inputs', 'reference_outputs', 'repetition'];
  if (several) header.push('regression');
  for (const [place, { name }] of table.experiments.entries()) {
    const ofRows = repeated[place]!.map((key) => `labels ${key}`);
    const ofKeys = [...columns[place]!.flatMap(namesOf), ...ofRows];
    const own = [...OF_RUN, ...USED, ...ofKeys, ...ofWhole[place]!.map(([title]) => title)];
    for (const column of own) header.push(several ? `${name}: ${column}` : column);
  }
  if (header.length > MOST_COLUMNS) {
    throw new BadRequest(
      `The export would have ${header.length} columns, more than ${MOST_COLUMNS}: name keys with key, or export JSON Lines.`,
    );
  }
  return async function* (pool, datasetId, comparison, selected) {
    yield csvLine(header);
    for await (const line of readLines(pool, datasetId, comparison, selected)) {
      const { example, rowId, name, inputs, referenceOutputs, repetition, regression, counts } = line;
      const cells = line.runs.flatMap((run, place) => [
        ...runCells(run, counts[place]!, columns[place]!),
        ...repeated[place]!.map((key) => sharesCell(line.labels[place]![key])),
        ...ofWhole[place]!.map(([, value]) => value),
      ]);
      const common = [example, rowId, name, inputs, referenceOutputs, repetition];
      yield csvLine([...common, ...(several ? [regression] : []), ...cells]);
    }
  };
}

function sharesCell(shares: RowLabels[string] | undefined): Cell {
  return shares ? JSON.stringify(shares) : null;
}

function namesOf({ key, scores, values, comments }: KeyColumns): string[] {
  return [
    ...(scores ? [`score ${key}`] : []),
    ...(values ? [`value ${key}`] : []),
    ...(comments ? [`comment ${key}`] : []),
  ];
}

function runCells(run: ExportedRun | null, count: number, keys: readonly KeyColumns[]): Cell[] {
  const byKey = new Map<string, RunFeedback[]>();
  for (const one of run?.feedback ?? []) byKey.set(one.key, [...(byKey.get(one.key) ?? []), one]);
  const told = keys.flatMap(({ key, scores, values, comments }) => {
    const given = byKey.get(key) ?? [];
    const texts = (of: (one: (typeof given)[number]) => string | null) => given.map(of).filter((one) => one);
    const joined = (list: (string | null)[]) => (list.length > 0 ? list.join('; ') : null);
    return [
      ...(scores ? [scoreCell(given)] : []),
      ...(values ? [joined(texts(({ value }) => (value === null || value === 'null' ? null : unquoted(value))))] : []),
      ...(comments ? [joined(texts(({ comment }) => (comment === null ? null : unquoted(comment))))] : []),
    ];
  });
  if (!run) return [null, count, ...Array<null>(OF_RUN.length - 2 + USED.length).fill(null), ...told];
  const { id, status, started, latency, error, outputs } = run;
  const texts = [error === null ? null : unquoted(error), outputs, metadataOf(run)];
  return [id, count, status, started, latency, ...texts, ...USED.map((name) => run[name]), ...told];
}

/** The digits of a score as it was sent; the mean where a run has several of a key. */
function scoreCell(given: ExportedRun['feedback']): Cell {
  const scores = given.filter(({ score }) => score !== null);
  const [first] = scores;
  if (!first) return null;
  if (scores.length > 1) return scores.reduce((sum, { score }) => sum + score!, 0) / scores.length;
  const { score_sent: digits, score } = first;
  return digits !== null && /^-?\d/.test(digits) ? { digits } : score;
}

function metadataOf({ extra }: ExportedRun): string | null {
  if (!extra?.trimStart().startsWith('{')) return null;
  return memberSlices(Buffer.from(extra)).get('metadata')?.toString('utf8') ?? null;
}

function lineJson(line: ExportedLine, { table, experimentScores }: Comparison): string {
  const experiments = table.experiments.map(({ id, name }, place) => {
    const ofWhole = experimentScores.map(({ key, results }) => {
      const { value, values } = results[place]!;
      return [key, value === null && Object.keys(values).length > 0 ? JSON.stringify(values) : number(value)];
    });
    const about = { id: text(id), name: text(name) };
    const experiment_scores = object(Object.fromEntries(ofWhole) as Record<string, string>);
    const run = line.runs[place] ?? null;
    const runs = number(line.counts[place] ?? 0);
    const labels = JSON.stringify(line.labels[place]);
    return run
      ? object({ ...about, ...runJson(run), runs, labels, experiment_scores })
      : object({ ...about, run_id: 'null', runs, labels, experiment_scores });
  });
  return oneLine(
    object({
      example_id: text(line.example),
      row_id: text(line.rowId),
      name: text(line.name),
      inputs: raw(line.inputs),
      reference_outputs: raw(line.referenceOutputs),
      repetition: number(line.repetition),
      regression: number(line.regression),
      experiments: array(experiments),
    }),
  );
}

function runJson(run: ExportedRun): Record<string, string> {
  const byKey = new Map<string, number[]>();
  for (const { key, score } of run.feedback) {
    if (score !== null) byKey.set(key, [...(byKey.get(key) ?? []), score]);
  }
  const means = [...byKey].map(([key, list]) => [key, number(list.reduce((sum, one) => sum + one, 0) / list.length)]);
  const feedback = run.feedback.map(({ key, score, score_sent, value, comment }) =>
    object({ key: text(key), score: score_sent ?? number(score), value: raw(value), comment: raw(comment) }),
  );
  return {
    run_id: text(run.id),
    status: text(run.status),
    start_time: text(run.started),
    latency_seconds: number(run.latency),
    error: raw(run.error),
    outputs: raw(run.outputs),
    metadata: raw(metadataOf(run)),
    ...Object.fromEntries(USED.map((name) => [name, raw(run[name] === null ? null : String(run[name]))])),
    scores: object(Object.fromEntries(means) as Record<string, string>),
    feedback: array(feedback),
  };
}
