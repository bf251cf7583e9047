import type { Pool } from 'pg';
import { number, object, raw, text, time } from '../common/platform-json';
import { all, isoTime, Parameters } from '../common/sql';
import type { FeedbackEntity } from './feedback.entity';

/** Which feedback; times are ISO texts, both bounds inclusive. */
interface FeedbackQuery {
  readonly run?: readonly string[];
  readonly key?: readonly string[];
  readonly session?: readonly string[];
  readonly source?: readonly string[];
  readonly user?: readonly string[];
  readonly comparativeExperiment?: string;
  readonly hasComment?: boolean;
  readonly hasScore?: boolean;
  readonly level?: 'run' | 'session';
  readonly minCreatedAt?: string;
  readonly maxCreatedAt?: string;
  readonly limit: number;
  readonly offset: number;
}

type Optional = 'score_sent' | 'comparative_experiment_id';

export interface FeedbackRow
  extends
    Omit<FeedbackEntity, 'tenant_id' | 'created_at' | 'modified_at' | Optional>,
    Partial<Pick<FeedbackEntity, Optional>> {
  readonly created: string;
  readonly modified: string;
  readonly run_start: string | null;
}

export const FEEDBACK_COLUMNS = `f.id, f.session_id, f.run_id, f.key, f.score, f.score_sent, f.value, f.comment, f.correction, f.source_type, f.source_metadata, f.extra,
  ${isoTime('f.created_at')} as created, ${isoTime('f.modified_at')} as modified,
  ${isoTime('(select r.start_time from runs r where r.id = f.run_id and r.tenant_id = f.tenant_id)')} as run_start,
  f.comparative_experiment_id`;

export async function listFeedback(pool: Pool, tenantId: string, query: FeedbackQuery): Promise<string[]> {
  const parameters = new Parameters();
  const tenant = parameters.add(tenantId, 'uuid');
  const conditions = feedbackConditions(query, parameters);
  const sessions = query.session?.length ? ` and s.id = any(${parameters.add(query.session, 'uuid[]')})` : '';
  // By run the rows are few; else each session gives its own newest ones in the order of its index.
  const source = query.run?.length
    ? `feedback f join sessions s on s.id = f.session_id
       where s.tenant_id = ${tenant}${sessions} and f.run_id = any(${parameters.add(query.run, 'uuid[]')}) and ${all(conditions)}`
    : `sessions s cross join lateral (
         select * from feedback f where f.session_id = s.id and ${all(conditions)}
         order by f.created_at desc, f.id desc limit ${parameters.add(query.offset + query.limit)}
       ) f where s.tenant_id = ${tenant}${sessions}`;
  const { rows } = await pool.query<FeedbackRow>(
    `select ${FEEDBACK_COLUMNS} from (
       select f.* from ${source} order by f.created_at desc, f.id desc
       limit ${parameters.add(query.limit)} offset ${parameters.add(query.offset)}
     ) f order by f.created_at desc, f.id desc`,
    parameters.values,
  );
  return rows.map(feedbackJson);
}

/** One feedback as JSON text, undefined when the tenant has none of this id. */
export async function findFeedback(pool: Pool, tenantId: string, id: string): Promise<string | undefined> {
  const { rows } = await pool.query<FeedbackRow>(
    `select ${FEEDBACK_COLUMNS} from feedback f where f.id = $1 and f.tenant_id = $2`,
    [id, tenantId],
  );
  return rows[0] && feedbackJson(rows[0]);
}

export async function wasDeleted(pool: Pool, tenantId: string, id: string): Promise<boolean> {
  const text = 'select 1 from feedback_changes where id = $1 and tenant_id = $2 and deleted';
  return (await pool.query(text, [id, tenantId])).rowCount === 1;
}

export interface Subject {
  readonly session_id: string;
  readonly run_start: string | null;
}

export async function findSubject(
  pool: Pool,
  tenantId: string,
  level: 'run' | 'session',
  id: string,
): Promise<Subject | undefined> {
  const { rows } = await pool.query<Subject>(
    level === 'run'
      ? `select session_id, ${isoTime('start_time')} as run_start from runs where id = $1 and tenant_id = $2`
      : 'select id as session_id, null as run_start from sessions where id = $1 and tenant_id = $2',
    [id, tenantId],
  );
  return rows[0];
}

function feedbackConditions(query: FeedbackQuery, parameters: Parameters): string[] {
  const conditions: string[] = [];
  if (query.key?.length) conditions.push(`f.key = any(${parameters.add(query.key, 'text[]')})`);
  if (query.source?.length) conditions.push(`f.source_type = any(${parameters.add(query.source, 'text[]')})`);
  // Feedback here comes from keys, not from users.
  if (query.user?.length) conditions.push('false');
  if (query.comparativeExperiment) {
    conditions.push(`f.comparative_experiment_id = ${parameters.add(query.comparativeExperiment, 'uuid')}`);
  }
  if (query.hasComment !== undefined) conditions.push(`f.comment is ${query.hasComment ? 'not ' : ''}null`);
  if (query.hasScore !== undefined) conditions.push(`f.score is ${query.hasScore ? 'not ' : ''}null`);
  if (query.level) conditions.push(`f.run_id is ${query.level === 'run' ? 'not ' : ''}null`);
  if (query.minCreatedAt) conditions.push(`f.created_at >= ${parameters.add(query.minCreatedAt, 'timestamptz')}`);
  if (query.maxCreatedAt) conditions.push(`f.created_at <= ${parameters.add(query.maxCreatedAt, 'timestamptz')}`);
  return conditions;
}

export function feedbackJson(row: FeedbackRow): string {
  const source = {
    type: text(row.source_type),
    metadata: raw(row.source_metadata),
    user_id: 'null',
    ls_user_id: 'null',
    user_name: 'null',
  };
  return object({
    created_at: time(row.created),
    modified_at: time(row.modified),
    key: text(row.key),
    score: row.score_sent ?? number(row.score),
    value: raw(row.value),
    comment: raw(row.comment),
    correction: raw(row.correction),
    feedback_group_id: 'null',
    comparative_experiment_id: text(row.comparative_experiment_id),
    run_id: text(row.run_id),
    session_id: text(row.session_id),
    id: text(row.id),
    trace_id: text(row.run_id),
    start_time: text(row.run_start),
    is_root: String(row.run_id !== null),
    feedback_source: object(source),
    extra: raw(row.extra),
    feedback_thread_id: 'null',
  });
}
