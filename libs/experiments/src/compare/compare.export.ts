import type { Pool } from 'pg';
import { type Cell, type ComparedRow, readRows } from './compare-rows.queries';
import type { Comparison } from './compare.service';
import { array, number, object, raw, text, unquoted } from '../platform-json';

/** Rows that are read at once; rows may be megabytes large. */
const BATCH = 50;

/** Rows of a comparison as lines of JSON, every text whole. */
export async function* jsonLines(
  pool: Pool,
  datasetId: string,
  comparison: Comparison,
  selected: Uint32Array,
): AsyncGenerator<string> {
  for await (const rows of batches(pool, datasetId, comparison, selected)) {
    yield rows.map((row) => `${rowJson(row, comparison)}\n`).join('');
  }
}

/** The same as CSV (RFC 4180, UTF-8) with a header line. */
export async function* csvLines(
  pool: Pool,
  datasetId: string,
  comparison: Comparison,
  selected: Uint32Array,
): AsyncGenerator<string> {
  const { table, keys, experimentScores } = comparison;
  const own = ['run_id', 'runs', 'status', 'latency_seconds', 'error', 'outputs'];
  const header = ['example_id', 'name', 'inputs', 'reference_outputs', 'regression'];
  for (const { name } of table.experiments) {
    header.push(...own.map((column) => `${name}: ${column}`), ...keys.map(({ key }) => `${name}: score ${key}`));
    header.push(...experimentScores.map(({ key }) => `${name}: experiment score ${key}`));
  }
  yield csvLine(header);
  const empty = Array<null>(own.length + keys.length).fill(null);
  const ofWhole = table.experiments.map((_, place) => experimentScores.map(({ results }) => results[place]!.value));
  for await (const rows of batches(pool, datasetId, comparison, selected)) {
    yield rows
      .map(({ example, name, inputs, referenceOutputs, regression, cells }) =>
        csvLine([
          ...[example, name, inputs, referenceOutputs, regression],
          ...cells.flatMap((cell, place) => [...(cell ? cellValues(cell) : empty), ...ofWhole[place]!]),
        ]),
      )
      .join('');
  }
}

/** One line of CSV. Text that a spreadsheet would take for a formula gets an apostrophe in front. */
export function csvLine(values: readonly (string | number | null)[]): string {
  return `${values.map(csvValue).join(',')}\r\n`;
}

function csvValue(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r\n＝＋－＠]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function cellValues({ run_id: id, runs, status, latency, error, outputs, scores }: Cell): (string | number | null)[] {
  return [id, runs, status, latency, error === null ? null : unquoted(error), outputs, ...scores];
}

function rowJson(
  { example, name, inputs, referenceOutputs, regression, cells }: ComparedRow,
  comparison: Comparison,
): string {
  const { table, keys, experimentScores } = comparison;
  const experiments = cells.map((cell, index) => {
    const { id, name: experiment } = table.experiments[index]!;
    const ofWhole = Object.fromEntries(experimentScores.map((one) => [one.key, number(one.results[index]!.value)]));
    const experiment_scores = object(ofWhole);
    if (!cell) return object({ id: text(id), name: text(experiment), run_id: 'null', experiment_scores });
    return object({
      id: text(id),
      name: text(experiment),
      run_id: text(cell.run_id),
      runs: number(cell.runs),
      status: text(cell.status),
      latency_seconds: number(cell.latency),
      error: raw(cell.error),
      outputs: raw(cell.outputs),
      scores: object(Object.fromEntries(keys.map(({ key }, place) => [key, number(cell.scores[place])]))),
      experiment_scores,
    });
  });
  return object({
    example_id: text(example),
    name: text(name),
    inputs: oneLine(raw(inputs)),
    reference_outputs: oneLine(raw(referenceOutputs)),
    regression: number(regression),
    experiments: oneLine(array(experiments)),
  });
}

/** JSON without line breaks between its tokens, which are the only place where JSON has any. */
function oneLine(json: string): string {
  return json.replaceAll(/[\r\n]+/g, ' ');
}

async function* batches(
  pool: Pool,
  datasetId: string,
  comparison: Comparison,
  selected: Uint32Array,
): AsyncGenerator<ComparedRow[]> {
  for (let start = 0; start < selected.length; start += BATCH) {
    yield await readRows(pool, datasetId, comparison, selected.subarray(start, start + BATCH));
  }
}
