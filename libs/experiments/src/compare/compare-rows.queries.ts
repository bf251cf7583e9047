import type { Pool } from 'pg';
import { exampleIdAt } from './score-table';
import { type RowLabels, rowLabels } from './labels';
import type { Comparison } from './comparisons.service';
import type { ExampleEntity } from '../examples/example.entity';
import type { RunEntity } from '../runs/run.entity';
import { RUN_INPUTS } from '../runs/runs-vocabulary';
import { latencyOf } from '../common/sql';

interface Cell {
  readonly run_id: string;
  /** Runs of the row; scores are means over them. */
  readonly runs: number;
  readonly status: string;
  readonly latency: number | null;
  readonly error: string | null;
  readonly outputs: string | null;
  /** By the comparison's keys, null where there is none. */
  readonly scores: readonly (number | null)[];
  readonly labels: RowLabels;
}

/** One row of a comparison: its example, and a cell for each experiment in their order, null where it was not run. */
export interface ComparedRow {
  readonly example: string;
  readonly name: string | null;
  readonly inputs: string | null;
  readonly referenceOutputs: string | null;
  /** Null when nothing is compared. */
  readonly regression: number | null;
  readonly cells: readonly (Cell | null)[];
}

type ExampleRow = Pick<ExampleEntity, 'id' | 'name' | 'inputs' | 'outputs'>;

interface RunRow extends Pick<
  RunEntity,
  'id' | 'example_id' | 'session_id' | 'status' | 'error' | 'inputs' | 'outputs'
> {
  readonly latency: number | null;
}

/** The texts of some rows of a comparison, in their order; `characters` cuts inputs, outputs and errors. */
export async function readRows(
  pool: Pool,
  datasetId: string,
  comparison: Comparison,
  rows: ArrayLike<number>,
  characters?: number,
): Promise<ComparedRow[]> {
  const { table, keys, categories, worst } = comparison;
  const ids = Array.from(rows, (row) => exampleIdAt(table, row));
  const cut = (column: string) => (characters === undefined ? column : `left(${column}, ${characters})`);
  const [examples, runs] = await Promise.all([
    pool.query<ExampleRow>(
      `select id, name, ${cut('inputs')} as inputs, ${cut('outputs')} as outputs
       from examples where dataset_id = $1 and id = any($2::uuid[]) and valid_to is null`,
      [datasetId, ids],
    ),
    pool.query<RunRow>(
      `select distinct on (r.session_id, r.example_id) r.id, r.example_id, r.session_id, r.status,
         ${latencyOf('r.')} as latency, ${cut('r.error')} as error,
         ${cut(RUN_INPUTS)} as inputs, ${cut('r.outputs')} as outputs
       from runs r where r.example_id = any($1::uuid[]) and r.session_id = any($2::uuid[]) and r.parent_run_id is null
       order by r.session_id, r.example_id, r.row_number, r.id`,
      [ids, table.experiments.map(({ id }) => id)],
    ),
  ]);
  const exampleById = new Map(examples.rows.map((example) => [example.id, example]));
  const runByPlace = new Map(runs.rows.map((run) => [`${run.session_id} ${run.example_id}`, run]));
  return ids.map((id, place) => {
    const row = rows[place]!;
    const example = exampleById.get(id);
    const found = table.experiments.map((experiment) => runByPlace.get(`${experiment.id} ${id}`));
    const cells = found.map((run, number) => {
      const experiment = table.experiments[number]!;
      const scores = keys.map(({ key }) => finite(experiment.keys.get(key)?.means[row]));
      const labels = rowLabels(experiment, categories, row);
      return run ? { ...run, run_id: run.id, runs: experiment.runs[row]!, scores, labels } : null;
    });
    return {
      example: id,
      name: example?.name ?? null,
      inputs: example?.inputs ?? found.find((run) => run !== undefined)?.inputs ?? null,
      referenceOutputs: example?.outputs ?? null,
      regression: finite(worst[row]),
      cells,
    };
  });
}

function finite(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}
