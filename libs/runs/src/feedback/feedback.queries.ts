import { BadRequest, Conflict } from '@fairlead/schema';
import type { Pool } from 'pg';
import { number, object, raw, text, time } from '../common/platform-json';
import { found } from '../common/reading';
import { all, isoTime, ofSession, Parameters } from '../common/sql';
import type { FeedbackAdded } from '../session/experiment';
import type { FeedbackQuery } from './feedback-body';
import { findReplacements, replacedSentence } from './replacements.queries';
import type { FeedbackEntity } from './feedback.entity';

type Optional = 'score_sent' | 'comparative_experiment_id';

export interface FeedbackRow
  extends
    Omit<FeedbackEntity, 'tenant_id' | 'created_at' | 'modified_at' | Optional>,
    Partial<Pick<FeedbackEntity, Optional>> {
  readonly created: string;
  readonly modified: string;
  readonly run_start: string | null;
}

/** SQL about feedback `f` of the workspace. */
export const feedbackColumns = (
  tenant: string,
) => `f.id, f.session_id, f.run_id, f.key, f.score, f.score_sent, f.value, f.comment, f.correction, f.source_type, f.source_metadata, f.extra,
  ${isoTime('f.created_at')} as created, ${isoTime('f.modified_at')} as modified,
  ${isoTime(`(select r.start_time from runs r where r.tenant_id = ${tenant} and r.id = f.run_id)`)} as run_start,
  f.comparative_experiment_id`;

export async function listFeedback(pool: Pool, tenantId: string, query: FeedbackQuery): Promise<string[]> {
  const parameters = new Parameters();
  const tenant = parameters.add(tenantId, 'uuid');
  const conditions = feedbackConditions(query, parameters);
  const sessions = query.session?.length ? ` and s.id = any(${parameters.add(query.session, 'uuid[]')})` : '';
  // By run the rows are few; else each session gives its own newest ones in the order of its index.
  const source = query.run?.length
    ? `feedback f join sessions s on s.id = f.session_id
       where s.tenant_id = ${tenant}${sessions} and f.tenant_id = ${tenant} and f.run_id = any(${parameters.add(query.run, 'uuid[]')}) and ${all(conditions)}`
    : `sessions s cross join lateral (
         select * from feedback f where f.tenant_id = ${tenant} and f.session_id = s.id and ${all(conditions)}
         order by f.created_at desc, f.id desc limit ${parameters.add(query.offset + query.limit)}
       ) f where s.tenant_id = ${tenant}${sessions}`;
  const { rows } = await pool.query<FeedbackRow>(
    `select ${feedbackColumns(tenant)} from (
       select f.* from ${source} order by f.created_at desc, f.id desc
       limit ${parameters.add(query.limit)} offset ${parameters.add(query.offset)}
     ) f order by f.created_at desc, f.id desc`,
    parameters.values,
  );
  return rows.map(feedbackJson);
}

export async function findFeedback(pool: Pool, tenantId: string, id: string): Promise<FeedbackRow | undefined> {
  const { rows } = await pool.query<FeedbackRow>(
    `select ${feedbackColumns('$2')} from feedback f where f.id = $1 and f.tenant_id = $2 and ${ofSession('f', '$2')}`,
    [id, tenantId],
  );
  return rows[0];
}

/** Returns the feedback that has an id; undefined when the id is free. @throws Conflict for an id that was deleted */
export async function findHolder(pool: Pool, tenantId: string, id: string): Promise<FeedbackRow | undefined> {
  const row = await findFeedback(pool, tenantId, id);
  if (row) return row;
  const text = 'select 1 from feedback_changes where id = $1 and tenant_id = $2 and deleted';
  const { rowCount } = await pool.query(text, [id, tenantId]);
  if (rowCount) throw new Conflict(`Feedback ID ${id} was deleted and cannot be used again.`);
  return undefined;
}

interface Subject {
  readonly session_id: string;
  readonly run_start: string | null;
}

async function findSubject(
  pool: Pool,
  tenantId: string,
  level: 'run' | 'session',
  id: string,
): Promise<Subject | undefined> {
  const { rows } = await pool.query<Subject>(
    level === 'run'
      ? `select r.session_id, ${isoTime('r.start_time')} as run_start from runs r
         where r.id = $1 and r.tenant_id = $2 and ${ofSession('r', '$2')}`
      : 'select id as session_id, null as run_start from sessions where id = $1 and tenant_id = $2',
    [id, tenantId],
  );
  return rows[0];
}

/**
 * The session and the run that feedback is on. It may come before its run, which clients send in batches: then it names
 * its session.
 * @throws BadRequest, NotFound, Conflict for a run that was replaced
 */
export async function requireSubject(
  pool: Pool,
  tenantId: string,
  { run_id, trace_id, session_id }: Partial<Record<'run_id' | 'trace_id' | 'session_id', string>>,
): Promise<Subject & { readonly run_id: string | null }> {
  const run = run_id ?? trace_id;
  const id = run ?? session_id;
  if (id === undefined) throw new BadRequest('Feedback needs a run_id or a session_id.');
  let subject = await findSubject(pool, tenantId, run ? 'run' : 'session', id);
  if (run && !subject) {
    const replacement = (await findReplacements(pool, tenantId, [run])).get(run);
    if (replacement) throw new Conflict(replacedSentence(run, replacement));
    subject = session_id ? await findSubject(pool, tenantId, 'session', session_id) : undefined;
  }
  const known = found(subject, run ? 'Run ID' : 'Session ID', id);
  if (session_id && session_id !== known.session_id)
    throw new BadRequest('The run is not of the session named by session_id.');
  return { ...known, run_id: run ?? null };
}

function feedbackConditions(query: FeedbackQuery, parameters: Parameters): string[] {
  const conditions: string[] = [];
  if (query.key?.length) conditions.push(`f.key = any(${parameters.add(query.key, 'text[]')})`);
  if (query.source?.length) conditions.push(`f.source_type = any(${parameters.add(query.source, 'text[]')})`);
  // Feedback here comes from keys, not from users.
  if (query.user?.length) conditions.push('false');
  if (query.comparative_experiment_id) {
    conditions.push(`f.comparative_experiment_id = ${parameters.add(query.comparative_experiment_id, 'uuid')}`);
  }
  if (query.has_comment !== undefined) conditions.push(`f.comment is ${query.has_comment ? 'not ' : ''}null`);
  if (query.has_score !== undefined) conditions.push(`f.score is ${query.has_score ? 'not ' : ''}null`);
  if (query.level) conditions.push(`f.run_id is ${query.level === 'run' ? 'not ' : ''}null`);
  if (query.min_created_at)
    conditions.push(`f.created_at >= ${parameters.add(query.min_created_at.iso, 'timestamptz')}`);
  if (query.max_created_at)
    conditions.push(`f.created_at <= ${parameters.add(query.max_created_at.iso, 'timestamptz')}`);
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

/** Returns feedback of a session, of given ids, as events tell of it. */
export async function uploadedFeedback(
  pool: Pool,
  tenant: string | undefined,
  session: string,
  ids: readonly string[],
) {
  const { rows } = await pool.query<Pick<FeedbackAdded['data'], 'id' | 'run_id' | 'key' | 'score' | 'created_at'>>(
    `select id, run_id, key, score, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as created_at
     from feedback where session_id = $1 and tenant_id = $2 and id = any($3::uuid[]) order by id`,
    [session, tenant, ids],
  );
  return rows;
}

/** Returns those of the ids that the workspace has in a table. */
export async function knownIds(
  pool: Pool,
  table: 'feedback' | 'sessions' | 'comparative_experiments',
  tenantId: string,
  ids: readonly (string | null | undefined)[],
): Promise<ReadonlySet<string>> {
  const named = [...new Set(ids)].filter(Boolean);
  if (named.length === 0) return new Set();
  const text = `select id from ${table} where id = any($1::uuid[]) and tenant_id = $2`;
  return new Set((await pool.query<{ id: string }>(text, [named, tenantId])).rows.map(({ id }) => id));
}
