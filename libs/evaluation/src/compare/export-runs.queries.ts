import type { Pool } from 'pg';
import {
  batches,
  type FeedbackEntity,
  isoTime,
  latencyOf,
  type RunEntity,
  runInputs,
  runUsage,
  storable,
  usageOf,
} from '@fairlead/runs';
import { categoryKeys } from './categories';
import { type RowLabels, rowLabels } from './labels';
import { exampleIdAt } from './score-table';
import type { Comparison } from './comparisons.service';

/** Kinds of values of a feedback key in one experiment, which decide its columns. */
export interface KeyColumns {
  readonly key: string;
  readonly scores: boolean;
  readonly values: boolean;
  readonly comments: boolean;
}

export type RunFeedback = Pick<FeedbackEntity, 'key' | 'score' | 'score_sent' | 'value' | 'comment'>;

export interface ExportedRun extends Pick<RunEntity, 'id' | 'status' | 'error' | 'inputs' | 'outputs' | 'extra'> {
  readonly started: string;
  readonly latency: number | null;
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  readonly total_tokens: number | null;
  readonly total_cost: string | null;
  readonly feedback: readonly RunFeedback[];
}

/** One line: the runs of a row that are the same repetition in each experiment, null where one has fewer of them. */
export interface ExportedLine {
  readonly example: string;
  /** The id that the row had in the file that was uploaded, where it is no UUID; else that of the example. */
  readonly rowId: string;
  readonly name: string | null;
  readonly inputs: string | null;
  readonly referenceOutputs: string | null;
  readonly regression: number | null;
  /** From 1. */
  readonly repetition: number;
  readonly counts: readonly number[];
  readonly labels: readonly RowLabels[];
  readonly runs: readonly (ExportedRun | null)[];
}

const ROWS = 200;

/** The keys that each experiment has feedback of on its runs, in the order of the experiments; `keys` undefined for all. */
export async function findKeyColumns(
  pool: Pool,
  { tenantId, table }: Comparison,
  keys: readonly string[] | undefined,
): Promise<KeyColumns[][]> {
  const sessions = table.experiments.map(({ id }) => id);
  const { rows } = await pool.query<KeyColumns & { session_id: string }>(
    `select session_id, key collate "C" as key, bool_or(score is not null) as scores,
       bool_or(value is not null and value <> 'null') as values, bool_or(comment is not null and comment <> '') as comments
     from feedback
     where tenant_id = $3 and session_id = any($1::uuid[]) and run_id is not null and comparative_experiment_id is null
       and ($2::text[] is null or key = any($2::text[]))
     group by 1, 2 order by 2`,
    [sessions, keys?.map(storable) ?? null, tenantId],
  );
  return sessions.map((id) => rows.filter((row) => row.session_id === id));
}

/** The runs of some rows of a comparison, line by line in their order, read in pieces of some MiB. */
export async function* readLines(
  pool: Pool,
  datasetId: string,
  comparison: Comparison,
  selected: Uint32Array,
): AsyncGenerator<ExportedLine> {
  for (let start = 0; start < selected.length; start += ROWS) {
    const rows = selected.subarray(start, start + ROWS);
    for (const group of batches(await linesOf(pool, comparison, rows))) {
      yield* filled(pool, datasetId, comparison, group);
    }
  }
}

interface Line {
  readonly id: string;
  readonly row: number;
  readonly place: number;
  readonly runs: (string | null)[];
  readonly counts: readonly number[];
  size: number;
}

async function linesOf(pool: Pool, { tenantId, table }: Comparison, rows: Uint32Array): Promise<Line[]> {
  const ids = Array.from(rows, (row) => exampleIdAt(table, row));
  const sessions = table.experiments.map(({ id }) => id);
  const found = await pool.query<{ id: string; example_id: string; session_id: string; size: number }>(
    `select r.id, r.example_id, r.session_id, least(1e9, 4096 + coalesce(octet_length(r.outputs), 0)
         + coalesce(octet_length(r.extra), 0) + coalesce(octet_length(r.error), 0)
         + coalesce(octet_length(${runInputs('$3')}), 0) + (
         select coalesce(sum(octet_length(key) + coalesce(octet_length(value), 0) + coalesce(octet_length(comment), 0)), 0)
         from feedback f where f.tenant_id = $3 and f.run_id = r.id and f.session_id = r.session_id))::int as size
     from runs r where r.tenant_id = $3 and r.example_id = any($1::uuid[]) and r.session_id = any($2::uuid[])
       and r.parent_run_id is null
     order by r.row_number, r.start_time, r.id`,
    [ids, sessions, tenantId],
  );
  const byRow = new Map<string, { id: string; size: number }[][]>();
  for (const { id, example_id, session_id, size } of found.rows) {
    const lists = byRow.get(example_id) ?? sessions.map(() => []);
    byRow.set(example_id, lists);
    lists[sessions.indexOf(session_id)]!.push({ id, size });
  }
  return ids.flatMap((id, at) => {
    const lists = byRow.get(id) ?? [];
    const counts = lists.map(({ length }) => length);
    return Array.from({ length: Math.max(0, ...counts) }, (_, place): Line => {
      const runs = lists.map((list) => list[place]);
      const size = runs.reduce((sum, run) => sum + (run?.size ?? 0), 0);
      return { id, row: rows[at]!, place, runs: runs.map((run) => run?.id ?? null), counts, size };
    });
  });
}

async function* filled(
  pool: Pool,
  datasetId: string,
  { tenantId, table, worst }: Comparison,
  lines: readonly Line[],
): AsyncGenerator<ExportedLine> {
  const sessions = table.experiments.map(({ id }) => id);
  const labelled = categoryKeys(table).map((key) => ({ key }));
  const runIds = lines.flatMap(({ runs }) => runs.filter((id) => id !== null));
  const [examples, runs, feedback] = await Promise.all([
    pool.query<{ id: string; name: string; inputs: string; outputs: string | null; row_id: string | null }>(
      `select id, name, inputs, outputs, searchable_json(metadata) ->> 'row_id' as row_id
       from examples where tenant_id = $3 and dataset_id = $1 and id = any($2::uuid[]) and valid_to is null`,
      [datasetId, [...new Set(lines.map(({ id }) => id))], tenantId],
    ),
    pool.query<Omit<ExportedRun, 'feedback'>>(
      `select r.id, r.status, ${isoTime('r.start_time')} as started, ${latencyOf('r.')} as latency, r.error,
         ${runInputs('$3')} as inputs, r.outputs, r.extra, used.prompt_tokens::float8, used.completion_tokens::float8,
         used.total_tokens::float8, used.total_cost::text
       from runs r left join ${runUsage('$3')} on true
       where r.tenant_id = $3 and r.id = any($1::uuid[]) and r.session_id = any($2::uuid[])`,
      [runIds, sessions, tenantId],
    ),
    pool.query<RunFeedback & { run_id: string }>(
      `select run_id, key, score, score_sent, value, comment from feedback
       where tenant_id = $3 and run_id = any($1::uuid[]) and session_id = any($2::uuid[])
         and comparative_experiment_id is null
       order by created_at, id`,
      [runIds, sessions, tenantId],
    ),
  ]);
  const byRun = new Map<string, RunFeedback[]>(runs.rows.map(({ id }) => [id, []]));
  for (const { run_id, ...given } of feedback.rows) byRun.get(run_id)?.push(given);
  const known = new Map(runs.rows.map((run) => [run.id, { ...withUsage(run), feedback: byRun.get(run.id)! }]));
  const ofExample = new Map(examples.rows.map((example) => [example.id, example]));
  for (const line of lines) {
    const example = ofExample.get(line.id);
    const cells = line.runs.map((id) => (id === null ? null : (known.get(id) ?? null)));
    const regression = worst[line.row]!;
    yield {
      example: line.id,
      rowId: example?.row_id ?? line.id,
      name: example?.name ?? null,
      inputs: example?.inputs ?? cells.find((run) => run !== null)?.inputs ?? null,
      referenceOutputs: example?.outputs ?? null,
      regression: Number.isFinite(regression) ? regression : null,
      repetition: line.place + 1,
      counts: line.counts,
      labels: table.experiments.map((experiment) => rowLabels(experiment, labelled, line.row)),
      runs: cells,
    };
  }
}

/** Tokens and costs of runs that an earlier version stored for an upload are read from what was sent. */
function withUsage<T extends Omit<ExportedRun, 'feedback'>>(run: T): T {
  if (run.total_tokens !== null || run.total_cost !== null) return run;
  return { ...run, ...usageOf(run) };
}
