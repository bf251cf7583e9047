import type { Pool } from 'pg';
import type { SessionCreated } from './experiment';
import type { SessionEntity } from './session.entity';
import { compileFilter, type Vocabulary } from '../runs/filter.sql';
import { number, object, raw, text } from '../platform-json';
import { USAGE_MEMBERS } from '../runs/run-usage';
import type { SessionChanges } from './experiment';
import { all, containing, isoTime, Parameters } from '../sql';

/** How a list of sessions is narrowed, ordered and cut. */
interface SessionQuery {
  readonly id?: readonly string[];
  readonly name?: string;
  readonly name_contains?: string;
  readonly reference_dataset?: readonly string[];
  readonly reference_free?: boolean;
  readonly dataset_version?: string;
  /** JSON text of what the session's metadata must contain. */
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
  'run_count' | 'latency_p50' | 'latency_p99' | 'error_rate' | 'feedback_stats' | 'session_feedback_stats';

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
    {
      key: 'metadata_key',
      fields: { metadata_key: { sql: 'm.key', type: 'text' }, metadata_value: { sql: 'm.value', type: 'text' } },
      exists: (condition) =>
        `exists (select 1 from jsonb_each_text(case when jsonb_typeof(s.metadata) = 'object' then s.metadata end) m where ${condition})`,
    },
  ],
  json: { metadata: 's.metadata' },
  search: ['s.name', 's.description'],
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

/** One session as JSON text, undefined when the tenant has none of this id. */
export async function findSession(pool: Pool, tenantId: string, id: string): Promise<string | undefined> {
  const row = await readSession(pool, tenantId, id);
  return row && sessionJson(row);
}

/** A session that was just created, without statistics. */
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
    total_tokens: raw(row.total_tokens),
    prompt_tokens: raw(row.prompt_tokens),
    completion_tokens: raw(row.completion_tokens),
    total_cost: text(row.total_cost),
    prompt_cost: text(row.prompt_cost),
    completion_cost: text(row.completion_cost),
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
