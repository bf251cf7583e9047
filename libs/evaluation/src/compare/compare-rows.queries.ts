import type { Pool } from 'pg';
import type { ExampleEntity } from '@fairlead/datasets';
import {
  conversationEnd,
  lastTurn,
  latencyOf,
  preview,
  runInputs,
  type RunEntity,
  runUsage,
  type Turn,
  unquoted,
} from '@fairlead/runs';
import { exampleIdAt } from './score-table';
import { type RowLabels, rowLabels } from './labels';
import type { Comparison, Comparisons } from './comparisons.service';
import { pageOffset } from './row-selection';
import { findTold, type Told } from '../cells/cell-comments.queries';

const NOTHING_TOLD: Told = { comments: {}, judges: {} };
const PREVIEW_BYTES = 1024;
const ERROR_BYTES = 256;

interface Cell {
  readonly run_id: string;
  /** Runs of the row; scores are means over them. */
  readonly runs: number;
  readonly status: string;
  readonly latency: number | null;
  readonly tokens: number | null;
  /** Decimal text. */
  readonly cost: string | null;
  readonly error: string | null;
  readonly outputs: string | null;
  /** By the comparison's keys, null where there is none. */
  readonly scores: readonly (number | null)[];
  readonly labels: RowLabels;
  /** Undefined when nobody has asked for it. */
  readonly told?: Told;
  readonly outputsTurn?: Turn;
}

/** One row of a comparison: its example, and a cell for each experiment in their order, null where it was not run. */
export interface ComparedRow {
  readonly example: string;
  readonly name: string | null;
  readonly inputs: string | null;
  readonly inputsTurn?: Turn;
  readonly referenceOutputs: string | null;
  readonly referenceTurn?: Turn;
  /** Null when nothing is compared. */
  readonly regression: number | null;
  readonly cells: readonly (Cell | null)[];
}

interface ExampleRow extends Pick<ExampleEntity, 'id' | 'name' | 'inputs' | 'outputs'> {
  /** Ends of texts that look like conversations. */
  readonly inputs_end: string | null;
  readonly outputs_end: string | null;
}

interface RunRow extends Pick<
  RunEntity,
  'id' | 'example_id' | 'session_id' | 'status' | 'error' | 'inputs' | 'outputs'
> {
  readonly latency: number | null;
  readonly tokens: number | null;
  readonly cost: string | null;
  readonly inputs_end: string | null;
  readonly outputs_end: string | null;
}

/** The beginnings of the texts of some rows of a comparison, in their order. */
async function readRows(
  pool: Pool,
  datasetId: string,
  comparison: Comparison,
  rows: ArrayLike<number>,
  keys: readonly string[] | undefined,
): Promise<ComparedRow[]> {
  const { tenantId, table, categories, worst } = comparison;
  const ids = Array.from(rows, (row) => exampleIdAt(table, row));
  const cut = (column: string) => `left(${column}, ${PREVIEW_BYTES + 1})`;
  const [examples, runs] = await Promise.all([
    pool.query<ExampleRow>(
      `select id, name, ${cut('inputs')} as inputs, ${cut('outputs')} as outputs,
         ${conversationEnd('inputs')} as inputs_end, ${conversationEnd('outputs')} as outputs_end
       from examples where tenant_id = $3 and dataset_id = $1 and id = any($2::uuid[]) and valid_to is null`,
      [datasetId, ids, tenantId],
    ),
    pool.query<RunRow>(
      `select distinct on (r.session_id, r.example_id) r.id, r.example_id, r.session_id, r.status,
         ${latencyOf('r.')} as latency, used.total_tokens::float8 as tokens, used.total_cost::text as cost,
         ${cut('r.error')} as error,
         ${cut(runInputs('$3'))} as inputs, ${cut('r.outputs')} as outputs,
         ${conversationEnd(runInputs('$3'))} as inputs_end, ${conversationEnd('r.outputs')} as outputs_end
       from runs r left join ${runUsage('$3')} on true
       where r.tenant_id = $3 and r.example_id = any($1::uuid[]) and r.session_id = any($2::uuid[])
         and r.parent_run_id is null
       order by r.session_id, r.example_id, r.row_number, r.id`,
      [ids, table.experiments.map(({ id }) => id), tenantId],
    ),
  ]);
  const exampleById = new Map(examples.rows.map((example) => [example.id, example]));
  const told = keys && (await findTold(pool, tenantId, runs.rows, keys));
  const runByPlace = new Map(runs.rows.map((run) => [`${run.session_id} ${run.example_id}`, run]));
  return ids.map((id, place) => {
    const row = rows[place]!;
    const example = exampleById.get(id);
    const found = table.experiments.map((experiment) => runByPlace.get(`${experiment.id} ${id}`));
    const cells = found.map((run, number) => {
      const experiment = table.experiments[number]!;
      const scores = comparison.keys.map(({ key }) => finite(experiment.keys.get(key)?.means[row]));
      const labels = rowLabels(experiment, categories, row);
      if (!run) return null;
      const more = { told: told && (told.get(run.id) ?? NOTHING_TOLD), outputsTurn: lastTurn(run.outputs_end) };
      return { ...run, run_id: run.id, runs: experiment.runs[row]!, scores, labels, ...more };
    });
    const asRun = found.find((run) => run !== undefined);
    return {
      example: id,
      name: example?.name ?? null,
      inputs: example?.inputs ?? asRun?.inputs ?? null,
      inputsTurn: lastTurn((example ?? asRun)?.inputs_end ?? null, 'user'),
      referenceOutputs: example?.outputs ?? null,
      referenceTurn: lastTurn(example?.outputs_end ?? null),
      regression: finite(worst[row]),
      cells,
    };
  });
}

interface AskedPage {
  readonly offset: number;
  readonly limit: number;
  /** Keys whose comments and judges are given. */
  readonly comments?: readonly string[];
}

/** A page of rows with previews; scores stand in the order of the comparison's keys, cells in that of the experiments. */
function pageJson(
  rows: readonly ComparedRow[],
  { offset, total }: { readonly offset: number; readonly total: number },
) {
  const next = offset + rows.length;
  return {
    offset,
    // A page without rows leads nowhere, also where none were wanted.
    next_offset: rows.length > 0 && next < total ? next : null,
    total,
    rows: rows.map((row) => ({
      example_id: row.example,
      name: row.name === null ? null : preview(row.name, ERROR_BYTES),
      inputs_preview: preview(row.inputs, PREVIEW_BYTES),
      ...(row.inputsTurn && { inputs_turn: row.inputsTurn }),
      reference_outputs_preview: preview(row.referenceOutputs, PREVIEW_BYTES),
      ...(row.referenceTurn && { reference_outputs_turn: row.referenceTurn }),
      regression: row.regression,
      cells: row.cells.map(
        (cell) =>
          cell && {
            run_id: cell.run_id,
            runs: cell.runs,
            status: cell.status,
            latency_seconds: cell.latency,
            total_tokens: cell.tokens,
            total_cost: cell.cost,
            error_preview: preview(cell.error === null ? null : unquoted(cell.error), ERROR_BYTES),
            outputs_preview: preview(cell.outputs, PREVIEW_BYTES),
            scores: cell.scores,
            labels: cell.labels,
            ...cell.told,
            ...(cell.outputsTurn && { outputs_turn: cell.outputsTurn }),
          },
      ),
    })),
  };
}

/** Returns a page of chosen rows as JSON; `visible` takes out what is not shown. */
export async function readPage(
  pool: Pool,
  datasetId: string,
  comparison: Comparison,
  { selected, told }: Awaited<ReturnType<Comparisons['choose']>>,
  { limit, offset: asked, comments }: AskedPage,
  visible = (row: ComparedRow) => row,
) {
  const offset = pageOffset(told.place, limit) ?? asked;
  const shown = selected.subarray(offset, offset + limit);
  const rows = await readRows(pool, datasetId, comparison, shown, comments);
  return { ...pageJson(rows.map(visible), { offset, total: selected.length }), ...told };
}

function finite(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}
