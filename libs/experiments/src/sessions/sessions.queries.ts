import type { Pool } from 'pg';
import type { ScoreDirections } from '@fairlead/datasets';
import {
  all,
  compileFilter,
  containing,
  isoTime,
  lowerIsBetter,
  metadataFamily,
  number,
  object,
  Parameters,
  raw,
  type ScoreBound,
  type SessionChanges,
  type SessionCreated,
  type SessionEntity,
  text,
  USAGE_MEMBERS,
  type Vocabulary,
} from '@fairlead/runs';
import { differencesOf, verdictOf } from './mean-differences';

interface SessionQuery {
  readonly id?: readonly string[];
  readonly name?: string;
  readonly name_contains?: string;
  readonly reference_dataset?: readonly string[];
  readonly reference_free?: boolean;
  readonly dataset_version?: string;
  readonly metadata?: string;
  readonly tag_value_id?: readonly string[];
  readonly filter?: string;
  readonly sort_by: keyof typeof SORTS;
  readonly sort_by_desc: boolean;
  readonly sort_by_feedback_key?: string;
  readonly sort_by_feedback_source?: 'session' | 'run';
  readonly offset: number;
  readonly limit: number;
}

interface PlainRow extends Pick<
  SessionEntity,
  'id' | 'name' | 'description' | 'extra' | 'default_dataset_id' | 'reference_dataset_id' | 'trace_tier'
> {
  readonly start: string;
  readonly end: string | null;
}

type Statistics =
  | 'run_count'
  | 'latency_p50'
  | 'latency_p99'
  | 'error_rate'
  | 'feedback_stats'
  | 'session_feedback_stats';

interface SessionRow
  extends
    PlainRow,
    Pick<SessionEntity, 'tenant_id' | 'test_run_number' | 'persisted' | Statistics | (typeof USAGE_MEMBERS)[number]> {
  readonly last_run: string | null;
}

const COLUMNS = `s.id, s.tenant_id, s.name, s.description, ${isoTime('s.start_time')} as start, ${isoTime('s.end_time')} as "end",
  s.extra, s.default_dataset_id, s.reference_dataset_id, s.trace_tier, s.test_run_number, s.persisted, s.run_count,
  s.latency_p50, s.latency_p99, s.error_rate, ${isoTime('s.last_run_start_time')} as last_run,
  s.feedback_stats, s.session_feedback_stats, ${USAGE_MEMBERS.map((name) => `s.${name}`).join(', ')}`;

const MOST_FACETS = 100;

const SORTS = {
  name: 's.name',
  start_time: 's.start_time',
  last_run_start_time: 's.last_run_start_time',
  latency_p50: 's.latency_p50',
  latency_p99: 's.latency_p99',
  error_rate: 's.error_rate',
  feedback: '',
  runs_count: 's.run_count',
} as const;

const VOCABULARY: Vocabulary = {
  fields: {
    id: { sql: 's.id', type: 'uuid' },
    name: { sql: 's.name', type: 'text' },
    description: { sql: 's.description', type: 'text' },
    start_time: { sql: 's.start_time', type: 'time' },
    end_time: { sql: 's.end_time', type: 'time' },
    run_count: { sql: 's.run_count', type: 'number' },
    latency_p50: { sql: 's.latency_p50', type: 'duration' },
    latency_p99: { sql: 's.latency_p99', type: 'duration' },
    error_rate: { sql: 's.error_rate', type: 'number' },
    test_run_number: { sql: 's.test_run_number', type: 'number' },
    reference_dataset_id: { sql: 's.reference_dataset_id', type: 'uuid' },
  },
  families: [
    metadataFamily('s.metadata'),
    {
      key: 'feedback_key',
      fields: {
        feedback_key: { sql: 'f.key', type: 'text' },
        feedback_score: { sql: "(f.value ->> 'avg')::float8", type: 'number' },
      },
      exists: (condition) =>
        `exists (select 1 from (
           select * from jsonb_each(searchable_json(s.feedback_stats))
           union all select * from jsonb_each(searchable_json(s.session_feedback_stats))) f where ${condition})`,
    },
  ],
  paths: { 'extra.metadata': 's.metadata' },
  json: { metadata: 's.metadata' },
  search: { texts: ['s.name', 's.description'], json: [] },
};

/** The tenant's sessions that match, each as JSON text. @throws FilterError */
export async function listSessions(pool: Pool, tenantId: string, query: SessionQuery): Promise<string[]> {
  const parameters = new Parameters();
  const conditions = sessionConditions(tenantId, query, parameters);
  const direction = query.sort_by_desc ? 'desc' : 'asc';
  const order =
    query.sort_by === 'start_time'
      ? `s.start_time ${direction}`
      : `${sortKey(query, parameters)} ${direction} nulls last`;
  const { rows } = await pool.query<SessionRow>(
    `select ${COLUMNS} from sessions s where ${all(conditions)} order by ${order}, s.id
     limit ${parameters.add(query.limit)} offset ${parameters.add(query.offset)}`,
    parameters.values,
  );
  return rows.map(sessionJson);
}

/** The number of the tenant's sessions that match. @throws FilterError */
export async function countSessions(pool: Pool, tenantId: string, query: SessionQuery): Promise<number> {
  const parameters = new Parameters();
  const where = all(sessionConditions(tenantId, query, parameters));
  const { rows } = await pool.query<{ total: number }>(
    `select count(*)::int as total from sessions s where ${where}`,
    parameters.values,
  );
  return rows[0]!.total;
}

interface ExperimentQuery {
  readonly q?: string;
  readonly dataset_id?: readonly string[];
  readonly metadata?: string;
  readonly scores: readonly ScoreBound[];
  readonly sort: ExperimentSort;
  readonly descending: boolean;
  readonly offset: number;
  readonly limit: number;
}

const EXPERIMENT_SORTS = {
  start_time: 's.start_time',
  name: 's.name',
  dataset_name: 'd.name',
  test_run_number: 's.test_run_number',
  run_count: 's.run_count',
  latency_p50: 's.latency_p50',
  latency_p99: 's.latency_p99',
  error_rate: 's.error_rate',
  total_tokens: 's.total_tokens',
  total_cost: 's.total_cost',
} as const;
type ExperimentSort = keyof typeof EXPERIMENT_SORTS | { readonly score: string } | { readonly metadata: string };

export const EXPERIMENT_ORDERS = Object.keys(EXPERIMENT_SORTS) as readonly (keyof typeof EXPERIMENT_SORTS)[];

export async function listExperiments(pool: Pool, tenantId: string, query: ExperimentQuery) {
  const parameters = new Parameters();
  const where = all(experimentConditions(tenantId, query, parameters));
  const from = 'sessions s join datasets d on d.id = s.reference_dataset_id and d.tenant_id = s.tenant_id';
  interface Facet {
    readonly dataset_id: string;
    readonly dataset_name: string;
    readonly count: number;
    readonly total: number;
  }
  const facets = await pool.query<Facet>(
    `select d.id as dataset_id, d.name as dataset_name, count(*)::int as count, sum(count(*)) over ()::int as total
     from ${from} where ${where} group by d.id, d.name order by count(*) desc, d.name, d.id limit ${MOST_FACETS}`,
    parameters.values,
  );
  const sort = experimentSort(query.sort, parameters);
  const { rows } = await pool.query<ListedRow>(
    `select ${COLUMNS}, d.name as dataset_name, d.score_directions, b.id as baseline, b.feedback_stats as baseline_stats, b.session_feedback_stats as baseline_scores
     from ${from} left join sessions b
       on b.id = d.baseline_experiment_id and b.tenant_id = d.tenant_id and b.persisted
     where ${where}
     order by ${sort} ${query.descending ? 'desc' : 'asc'} nulls last, s.id
     limit ${parameters.add(query.limit)} offset ${parameters.add(query.offset)}`,
    parameters.values,
  );
  const lower = rows.some(({ baseline }) => baseline !== null)
    ? await lowerIsBetter(pool, tenantId)
    : new Set<string>();
  return {
    resources: rows.map((row) => listedJson(row, lower)),
    total: facets.rows[0]?.total ?? 0,
    datasets: facets.rows.map(({ dataset_id, dataset_name, count }) => ({ dataset_id, dataset_name, count })),
  };
}

interface ListedRow extends SessionRow {
  readonly dataset_name: string;
  readonly score_directions: string | null;
  readonly baseline: string | null;
  readonly baseline_stats: string | null;
  readonly baseline_scores: string | null;
}

function listedJson(row: ListedRow, lower: ReadonlySet<string>): string {
  const more = { dataset_name: row.dataset_name, against_baseline: againstBaseline(row, lower) };
  return `${sessionJson(row).slice(0, -1)},${JSON.stringify(more).slice(1)}`;
}

/** `lower`: the feedback keys of the workspace of which lower scores are better; those of the dataset go first. */
function againstBaseline(row: ListedRow, lower: ReadonlySet<string>) {
  const { id, persisted, baseline, score_directions } = row;
  if (baseline === null || baseline === id || !persisted) return null;
  const ofDataset = JSON.parse(score_directions ?? '{}') as Partial<ScoreDirections>;
  const [low, high] = [ofDataset.lower_is_better, ofDataset.higher_is_better].map((keys) => new Set(keys));
  const isLower = (key: string) => low!.has(key) || (lower.has(key) && !high!.has(key));
  const found = [
    ...differencesOf(row.baseline_scores, row.session_feedback_stats),
    ...differencesOf(row.baseline_stats, row.feedback_stats),
  ];
  return {
    experiment_id: baseline,
    differences: Object.fromEntries(found.map(({ key, difference }) => [key, difference])),
    verdicts: Object.fromEntries(found.map((one) => [one.key, verdictOf(one, isLower(one.key))])),
    lower_is_better: [...new Set(found.map(({ key }) => key).filter(isLower))],
  };
}

function experimentConditions(tenantId: string, query: ExperimentQuery, parameters: Parameters): string[] {
  const conditions = [`s.tenant_id = ${parameters.add(tenantId)}`];
  if (query.q !== undefined) {
    const pattern = parameters.add(containing(query.q));
    conditions.push(`(s.name ilike ${pattern} or s.description ilike ${pattern} or d.name ilike ${pattern})`);
  }
  if (query.dataset_id?.length) conditions.push(`d.id = any(${parameters.add(query.dataset_id, 'uuid[]')})`);
  if (query.metadata) conditions.push(`s.metadata @> searchable_json(${parameters.add(query.metadata, 'text')})`);
  for (const { key, operator, bound } of query.scores) {
    conditions.push(`s.persisted and ${meanScore(key, parameters)} ${operator} ${parameters.add(bound, 'float8')}`);
  }
  return conditions;
}

function experimentSort(sort: ExperimentSort, parameters: Parameters): string {
  if (typeof sort === 'string') return EXPERIMENT_SORTS[sort];
  if ('score' in sort) return meanScore(sort.score, parameters);
  return `s.metadata -> ${parameters.add(sort.metadata, 'text')}`;
}

/** The mean over the runs; of a key that no run has, the score of the whole experiment. */
function meanScore(key: string, parameters: Parameters): string {
  const name = parameters.add(key, 'text');
  const mean = (column: string) => `(searchable_json(s.${column}) -> ${name} ->> 'avg')::float8`;
  return `coalesce(${mean('feedback_stats')}, ${mean('session_feedback_stats')})`;
}

export async function findSession(pool: Pool, tenantId: string, id: string): Promise<string | undefined> {
  const row = await readSession(pool, tenantId, id);
  return row && sessionJson(row);
}

export function createdSession(tenantId: string, id: string, data: SessionCreated['data']): string {
  const members = plainMembers({ ...data, id, start: data.start_time, end: data.end_time });
  return object({ ...members, tenant_id: text(tenantId), last_run_start_time_live: 'null' });
}

/** A session without its statistics, with changes that its row may not show yet; undefined when the tenant has none of this id. */
export async function findPlainSession(
  pool: Pool,
  tenantId: string,
  id: string,
  changes: SessionChanges,
): Promise<string | undefined> {
  const row = await readSession(pool, tenantId, id);
  if (!row) return undefined;
  const changed = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  const members = plainMembers({ ...row, ...changed, end: changes.end_time ?? row.end });
  return object({ ...members, tenant_id: text(row.tenant_id), last_run_start_time_live: lastRun(row) });
}

async function readSession(pool: Pool, tenantId: string, id: string): Promise<SessionRow | undefined> {
  const { rows } = await pool.query<SessionRow>(
    `select ${COLUMNS} from sessions s where s.id = $1 and s.tenant_id = $2`,
    [id, tenantId],
  );
  return rows[0];
}

function sessionConditions(tenantId: string, query: SessionQuery, parameters: Parameters): string[] {
  const conditions = [`s.tenant_id = ${parameters.add(tenantId)}`];
  if (query.id?.length) conditions.push(`s.id = any(${parameters.add(query.id, 'uuid[]')})`);
  if (query.name) conditions.push(`s.name = ${parameters.add(query.name)}`);
  if (query.name_contains) conditions.push(`s.name ilike ${parameters.add(containing(query.name_contains))}`);
  if (query.reference_dataset?.length) {
    conditions.push(`s.reference_dataset_id = any(${parameters.add(query.reference_dataset, 'uuid[]')})`);
  }
  if (query.reference_free !== undefined) {
    conditions.push(`s.reference_dataset_id is ${query.reference_free ? '' : 'not '}null`);
  }
  if (query.dataset_version) {
    conditions.push(`s.metadata ->> 'dataset_version' = ${parameters.add(query.dataset_version)}`);
  }
  if (query.metadata) conditions.push(`s.metadata @> searchable_json(${parameters.add(query.metadata, 'text')})`);
  // Nothing carries tags here, so no session has one of those asked for.
  if (query.tag_value_id?.length) conditions.push('false');
  if (query.filter) conditions.push(compileFilter(query.filter, VOCABULARY, parameters));
  return conditions;
}

function sortKey(query: SessionQuery, parameters: Parameters): string {
  if (query.sort_by !== 'feedback') return SORTS[query.sort_by];
  const column = query.sort_by_feedback_source === 'session' ? 's.session_feedback_stats' : 's.feedback_stats';
  const key = parameters.add(query.sort_by_feedback_key ?? '', 'text');
  return `(searchable_json(${column}) -> ${key} ->> 'avg')::float8`;
}

function plainMembers(row: PlainRow): Record<string, string> {
  return {
    start_time: text(row.start),
    end_time: text(row.end),
    extra: raw(row.extra),
    name: text(row.name),
    description: text(row.description),
    default_dataset_id: text(row.default_dataset_id),
    reference_dataset_id: text(row.reference_dataset_id),
    trace_tier: text(row.trace_tier),
    id: text(row.id),
  };
}

/** A session with all members; its statistics stay null until its runs are persisted. */
function sessionJson(row: SessionRow): string {
  const statistic = (json: string) => (row.persisted ? json : 'null');
  return object({
    ...plainMembers(row),
    run_count: statistic(number(row.run_count)),
    latency_p50: statistic(number(row.latency_p50)),
    latency_p99: statistic(number(row.latency_p99)),
    first_token_p50: 'null',
    first_token_p99: 'null',
    total_tokens: statistic(raw(row.total_tokens)),
    prompt_tokens: statistic(raw(row.prompt_tokens)),
    completion_tokens: statistic(raw(row.completion_tokens)),
    total_cost: statistic(text(row.total_cost)),
    prompt_cost: statistic(text(row.prompt_cost)),
    completion_cost: statistic(text(row.completion_cost)),
    tenant_id: text(row.tenant_id),
    last_run_start_time: lastRun(row),
    last_run_start_time_live: lastRun(row),
    feedback_stats: statistic(raw(row.feedback_stats)),
    session_feedback_stats: statistic(raw(row.session_feedback_stats)),
    run_facets: 'null',
    error_rate: statistic(number(row.error_rate)),
    streaming_rate: 'null',
    test_run_number: number(row.test_run_number),
  });
}

function lastRun(row: SessionRow): string {
  return row.persisted ? text(row.last_run) : 'null';
}
