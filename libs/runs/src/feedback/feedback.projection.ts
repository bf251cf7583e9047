import { idOf, type Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import { workspaceOf } from '../common/rows.queries';
import { ofSession } from '../common/sql';
import type { FeedbackAdded, FeedbackAwaited } from '../session/experiment';
import { deleteLeftFeedback } from '../session/session-rows.queries';
import { sessionFeedbackStatistics } from './feedback-statistics.queries';

const COLUMNS = `tenant_id, id, session_id, run_id, key, score, score_sent, value, comment, correction, source_type,
  source_metadata, extra, created_at, modified_at, comparative_experiment_id`;

interface Given {
  readonly session: string;
  readonly data: FeedbackAdded['data'];
}

/**
 * Stores feedback and, where it is the first to bring one, the configuration of its key: some statements for each
 * workspace, however much it is. Repeating it changes nothing.
 */
export async function applyFeedbackAdded(events: readonly Recorded<FeedbackAdded>[], tx: PoolClient): Promise<void> {
  const given = new Map<string | null, Given[]>();
  for (const event of events) {
    const tenant = await workspaceOf(tx, event, 'sessions');
    const one = { session: idOf(event.stream), data: event.data };
    const others = given.get(tenant);
    if (others) others.push(one);
    else given.set(tenant, [one]);
  }
  for (const [tenant, own] of given) await insertFeedback(tx, tenant, own);
}

/** Members of feedback that are columns, with their types. */
const SENT = {
  ...{ id: 'uuid', run_id: 'uuid', key: 'text', score: 'float8', score_sent: 'text', value: 'text', comment: 'text' },
  ...{ correction: 'text', source_type: 'text', source_metadata: 'text', extra: 'text' },
  ...{ created_at: 'timestamptz', modified_at: 'timestamptz', comparative_experiment_id: 'uuid' },
} as const;
const NAMES = Object.keys(SENT).join(', ');
const INSERT = `
  insert into feedback (tenant_id, session_id, ${NAMES})
  select s.tenant_id, s.id, ${NAMES.replaceAll(/\w+/g, 'f.$&')}
  from unnest($2::uuid[], ${Object.values(SENT)
    .map((type, nth) => `$${nth + 3}::${type}[]`)
    .join(', ')})
    with ordinality as f (session, ${NAMES}, nth)
    join sessions s on s.id = f.session and s.tenant_id = $1
  order by f.nth on conflict (id, tenant_id) do nothing returning id`;

/** Stores feedback with its run when that is there by now, and else to wait for it; answers the session of the run. */
export async function applyFeedbackAwaited(
  { metadata: { tenant }, data }: Recorded<FeedbackAwaited>,
  tx: PoolClient,
): Promise<string | undefined> {
  const { rows } = await tx.query<{ session_id: string }>(
    `select r.session_id from runs r where r.id = $1 and r.tenant_id = $2 and ${ofSession('r', '$2')}`,
    [data.run_id, tenant],
  );
  if (rows[0]) await insertFeedback(tx, tenant!, [{ session: rows[0].session_id, data }]);
  else
    await tx.query(
      'insert into awaited_feedback (tenant_id, run_id, id, data) values ($1, $2, $3, $4) on conflict do nothing',
      [tenant, data.run_id, data.id, JSON.stringify(data)],
    );
  return rows[0]?.session_id;
}

export async function settleFeedback(tx: PoolClient, tenant: string | null, session: string): Promise<boolean> {
  const { rows } = await tx.query<{ data: string }>(
    `delete from awaited_feedback a using runs r
     where a.tenant_id = $2 and r.tenant_id = $2 and r.session_id = $1 and r.id = a.run_id returning a.data`,
    [session, tenant],
  );
  const given = rows.map(({ data }) => ({ session, data: JSON.parse(data) as FeedbackAdded['data'] }));
  if (given.length > 0) await insertFeedback(tx, tenant, given);
  return rows.length > 0;
}

async function insertFeedback(tx: PoolClient, tenant: string | null, given: readonly Given[]): Promise<void> {
  const stored = new Set(await insertRows(tx, tenant, given));
  const left = given.filter(({ data }) => !stored.has(data.id));
  const ids = left.map(({ data }) => data.id);
  // Feedback of a large session that was deleted may still have the id.
  if (left.length > 0 && (await deleteLeftFeedback(tx, tenant, ids))) await insertRows(tx, tenant, left);
  const set = given.filter(({ data: { config } }) => config !== null);
  if (set.length === 0) return;
  await tx.query(
    `insert into feedback_configs (tenant_id, key, config)
     select $1, key, config from unnest($2::text[], $3::text[]) as c (key, config) on conflict do nothing`,
    [tenant, set.map(({ data }) => data.key), set.map(({ data }) => data.config)],
  );
}

/** Returns the ids of those that were not there. The first of several with one id is stored. */
async function insertRows(tx: PoolClient, tenant: string | null, given: readonly Given[]): Promise<string[]> {
  const of = (name: keyof typeof SENT) => given.map(({ data }) => data[name] ?? null);
  const { rows } = await tx.query<{ id: string }>({
    name: 'insert feedback',
    text: INSERT,
    values: [tenant, given.map(({ session }) => session), ...(Object.keys(SENT) as (keyof typeof SENT)[]).map(of)],
  });
  return rows.map(({ id }) => id);
}

export async function refreshFeedbackStats(tx: PoolClient, tenant: string | null, sessionId: string): Promise<void> {
  await setAsideFeedback(tx, tenant, sessionId);
  if (await lockStored(tx, tenant, sessionId)) await storeFeedbackStats(tx, tenant, sessionId);
}

/** Locks the row of a session whose runs are stored; returns false when there is none. */
export async function lockStored(tx: PoolClient, tenant: string | null, session: string): Promise<boolean> {
  const text = 'select 1 from sessions where id = $1 and tenant_id = $2 and persisted for no key update';
  return (await tx.query(text, [session, tenant])).rowCount === 1;
}

export async function storeFeedbackStats(tx: PoolClient, tenant: string | null, sessionId: string): Promise<void> {
  const { runs, session } = await sessionFeedbackStatistics(tx, tenant, sessionId);
  await tx.query(
    'update sessions set feedback_stats = $3, session_feedback_stats = $4 where id = $1 and tenant_id = $2',
    [sessionId, tenant, runs, session],
  );
}

/** Moves the feedback on replaced runs out of the feedback of the experiment, whenever it was given. */
export async function setAsideFeedback(tx: PoolClient, tenant: string | null, experiment: string): Promise<void> {
  await tx.query(
    `with gone as (
       delete from feedback f using replaced_runs r
       where r.tenant_id = $2 and f.tenant_id = $2 and r.session_id = $1 and f.session_id = $1 and f.run_id = r.id
       returning f.*)
     insert into replaced_feedback (${COLUMNS}) select ${COLUMNS} from gone on conflict do nothing`,
    [experiment, tenant],
  );
}

/** Deletes the feedback of a comparative experiment. */
export async function deleteComparativeFeedback(tx: PoolClient, tenant: string | null, id: string): Promise<void> {
  await tx.query('delete from feedback where comparative_experiment_id = $1 and tenant_id = $2', [id, tenant]);
}
