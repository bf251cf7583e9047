import { copiedFields } from '@fairlead/blobs';
import { escapeLiteral, type Pool } from 'pg';
import { to } from 'pg-copy-streams';
import { BadRequest } from '@fairlead/schema';
import { countedUsage, type ExperimentLimits, IdTable, latencyOf, storable } from '@fairlead/runs';
import { LABEL_CHARACTERS } from './labels';
import type { Compared, LabelValues, ScoreTable } from './score-table';
import { Unpacked } from './unpacked-scores';

/** More rows than these are not resampled. */
const MOST_RESAMPLED_ROWS = 4000;
/** Experiments read side by side, with two connections each: one comparison must leave some to others. */
const AT_A_TIME = 2;

/** Runs of an experiment packed into one value: hundreds of thousands of rows would take seconds. */
const runsOf = (tenant: string, session: string) => `
  select string_agg(uuid_send(id) || uuid_send(example_id)
    || float8send(coalesce(extract(epoch from example_from)::float8, 'NaN'))
    || float8send(coalesce(${latencyOf('')}, 'NaN'))
    || case status when 'error' then '\\x01'::bytea else '\\x00' end, ''::bytea order by id)
  from runs where tenant_id = ${tenant} and session_id = ${session} and example_id is not null and parent_run_id is null`;

const packed = (list: string) => `int4send(coalesce(octet_length(${list}), 0)) || coalesce(${list}, '')`;

/** Tokens and cost by run, in the form of scores: of a root run, what it says or what the runs below it say. */
const usedOf = (tenant: string, session: string) => `
  select convert_to(json_build_object('measure', measure)::text, 'UTF8') as about,
    string_agg(uuid_send(run) || float8send(value::float8), ''::bytea) as scores, null::bytea as labels, null::bytea as structures
  from (
    select coalesce(u.trace_id, u.id) as run, sum(u.total_tokens) as tokens, sum(u.total_cost) as cost
    from runs u where u.tenant_id = ${tenant} and u.session_id = ${session} and ${countedUsage(tenant)} group by 1
  ) as used cross join lateral (values ('tokens', tokens), ('cost', cost)) as measured (measure, value)
  where value is not null group by measure`;

/**
 * Likewise scores and values by key: the JSON that tells of the key, its scores, its labels and the runs with objects or
 * lists, each after its length. They are joined here: the planner knows nothing yet of what has just been stored.
 */
const scoresOf = (tenant: string, session: string, keys: string, without: string) => `
  select ${['about', 'scores', 'labels', 'structures'].map(packed).join(' || ')}
  from (
    select convert_to(json_build_array(key collate "C", min(source_type), max(source_type))::text, 'UTF8') as about,
      string_agg(uuid_send(run_id) || float8send(score), ''::bytea) filter (where score is not null) as scores,
      string_agg(uuid_send(run_id) || int4send(octet_length(left(value, ${LABEL_CHARACTERS})))
        || convert_to(left(value, ${LABEL_CHARACTERS}), 'UTF8'), ''::bytea)
        filter (where score is null and left(value, 1) not in ('{', '[')) as labels,
      string_agg(uuid_send(run_id), ''::bytea)
        filter (where score is null and left(value, 1) in ('{', '[')) as structures
    from feedback
    where tenant_id = ${tenant} and session_id = ${session} and run_id is not null and (score is not null or value <> 'null')
      and comparative_experiment_id is null and (${keys}::text[] is null or key = any(${keys}))
      and (${without}::uuid[] is null or id <> all(${without}))
    group by key collate "C"
    union all ${usedOf(tenant, session)}
  ) as lists`;

interface Wanted {
  readonly keys?: readonly string[];
  /** Every key that fits is read, these before the others; the rest is named in `unread`. */
  readonly first?: readonly string[];
  readonly labelValues: (keys: readonly string[]) => Promise<ReadonlyMap<string, LabelValues>>;
  /** Ids of feedback that is left out. */
  readonly without?: readonly string[];
}

/**
 * Reads the scores of experiments of the workspace, in their order.
 * @throws BadRequest without `first`, when they are more than fit into memory
 */
export async function loadScores(
  pool: Pool,
  tenantId: string,
  experiments: readonly Compared[],
  { keys, first, labelValues: findValues, without = [] }: Wanted,
  limits: ExperimentLimits,
): Promise<ScoreTable> {
  const wanted = keys ? `array[${keys.map((key) => escapeLiteral(storable(key))).join(',')}]::text[]` : 'null';
  const uuid = (id: string) => `${escapeLiteral(id)}::uuid`;
  const tenant = uuid(tenantId);
  const excluded = without.length > 0 ? `array[${without.map(uuid).join(',')}]` : 'null';
  const read = ({ id, repeatedBy = [] }: Compared) => {
    const session = repeatedBy.length === 0 ? uuid(id) : `any(array[${[id, ...repeatedBy].map(uuid).join(',')}])`;
    const both = Promise.all([
      copied(pool, runsOf(tenant, session)),
      copied(pool, scoresOf(tenant, session, wanted, excluded)),
    ]);
    // A failure is told where its turn comes.
    both.catch(() => undefined);
    return both;
  };
  const reading: ReturnType<typeof read>[] = [];
  const rows = new IdTable();
  const unpacked: Unpacked[] = [];
  // In the order of the experiments, so that the same comparison always numbers its rows alike.
  for (const place of experiments.keys()) {
    for (const next of experiments.slice(reading.length, place + AT_A_TIME)) reading.push(read(next));
    unpacked.push(new Unpacked(...(await reading[place]!), rows));
  }
  const cells = new Map<string, number>();
  for (const [key, count] of unpacked.flatMap((one) => [...one.cells()])) cells.set(key, (cells.get(key) ?? 0) + count);
  const used = unpacked.reduce((sum, one) => sum + one.usedCells(), 0);
  const unread = leftOut(cells, used, rows.size, unpacked.length - 1, first, limits);
  const labelled = new Set(unpacked.flatMap((one) => one.labelledKeys()));
  const labelValues = labelled.size > 0 ? await findValues([...labelled]) : new Map<string, LabelValues>();
  const tables = unpacked.map((one, place) => one.finish(experiments[place]!, rows.size, new Set(unread), labelValues));
  return { rows: rows.size, ids: rows.ids(), experiments: tables, labelValues, unread };
}

/** Keys that are too many: what fits is filled with those of `first`, then by name. @throws BadRequest without `first` */
function leftOut(
  cells: ReadonlyMap<string, number>,
  used: number,
  rows: number,
  candidates: number,
  first: readonly string[] | undefined,
  { maxComparedCells, maxComparedPairs }: ExperimentLimits,
): string[] {
  if (!first) {
    const all = [...cells.values()].reduce((sum, one) => sum + one, 0);
    if ((all + used) * rows <= maxComparedCells) return [];
    throw new BadRequest(
      `The experiments have ${all} keys together, each for ${rows} rows, which is too much: name keys with key, or compare fewer experiments.`,
    );
  }
  const wanted = first.filter((key) => cells.has(key));
  const unread: string[] = [];
  let [taken, pairs] = [used * rows, 0];
  for (const key of new Set([...wanted, ...[...cells.keys()].sort()])) {
    taken += cells.get(key)! * rows;
    if (rows <= MOST_RESAMPLED_ROWS) pairs += candidates * rows;
    if (taken > maxComparedCells || pairs > maxComparedPairs) unread.push(key);
  }
  return unread;
}

/** The bytes that a query answers, in one column; by COPY, since any other way they come as text of twice the size. */
async function copied(pool: Pool, query: string): Promise<Buffer> {
  const client = await pool.connect();
  let whole = false;
  try {
    const pieces: Buffer[] = [];
    const source = client.query(to(`copy (${query}) to stdout (format binary)`));
    for await (const piece of copiedFields(source)) pieces.push(piece);
    whole = true;
    return Buffer.concat(pieces);
  } finally {
    client.release(!whole);
  }
}
