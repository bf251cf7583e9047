import { idOf, type Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import { workspaceOf } from '../common/rows.queries';
import { ofSession } from '../common/sql';
import type { FeedbackAdded, FeedbackAwaited } from '../session/experiment';
import { deleteLeftFeedback } from '../session/session-rows.queries';
import { sessionFeedbackStatistics } from './feedback-statistics.queries';

const COLUMNS = `tenant_id, id, session_id, run_id, key, score, score_sent, value, comment, correction, source_type,
  source_metadata, extra, created_at, modified_at, comparative_experiment_id`;

/** Stores one feedback and, when it is the first to bring one, the configuration of its key. Repeating it changes nothing. */
export async function applyFeedbackAdded(event: Recorded<FeedbackAdded>, tx: PoolClient): Promise<void> {
  await insertFeedback(tx, await workspaceOf(tx, event, 'sessions'), idOf(event.stream), event.data);
}

/** Stores feedback with its run when that is there by now, and else to wait for it; answers the session of the run. */
export async function applyFeedbackAwaited(
  { metadata: { tenant }, data }: Recorded<FeedbackAwaited>,
  tx: PoolClient,
): Promise<string | undefined> {
  const { rows } = await tx.query<{ session_id: string }>(
    `select r.session_id from runs r where r.id = $1 and r.tenant_id = $2 and ${ofSession('r', '$2')}`,
    [data.run_id, tenant],
  );
  if (rows[0]) await insertFeedback(tx, tenant!, rows[0].session_id, data);
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
  for (const { data } of rows) await insertFeedback(tx, tenant, session, JSON.parse(data) as FeedbackAdded['data']);
  return rows.length > 0;
}

async function insertFeedback(
  tx: PoolClient,
  tenant: string | null,
  session: string,
  data: FeedbackAdded['data'],
): Promise<void> {
  const insert = () =>
    tx.query(
      `insert into feedback (id, tenant_id, session_id, run_id, key, score, value, comment, correction,
       source_type, source_metadata, extra, created_at, modified_at, comparative_experiment_id, score_sent)
     select $1, s.tenant_id, s.id, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14::uuid, $15
     from sessions s where s.id = $2 and s.tenant_id = $16
     on conflict (id, tenant_id) do nothing`,
      [
        data.id,
        session,
        data.run_id,
        data.key,
        data.score,
        data.value,
        data.comment,
        data.correction,
        data.source_type,
        data.source_metadata,
        data.extra,
        data.created_at,
        data.modified_at,
        data.comparative_experiment_id ?? null,
        data.score_sent ?? null,
        tenant,
      ],
    );
  // Feedback of a large session that was deleted may still have the id.
  if ((await insert()).rowCount === 0 && (await deleteLeftFeedback(tx, tenant, data.id))) await insert();
  if (data.config === null) return;
  await tx.query('insert into feedback_configs (tenant_id, key, config) values ($1, $2, $3) on conflict do nothing', [
    tenant,
    data.key,
    data.config,
  ]);
}

export async function refreshFeedbackStats(tx: PoolClient, tenant: string | null, sessionId: string): Promise<void> {
  await setAsideFeedback(tx, tenant, sessionId);
  if (await lockStored(tx, tenant, sessionId)) await storeFeedbackStats(tx, tenant, sessionId);
}

/** Locks the row of a session whose runs are stored; returns false when there is none. */
export async function lockStored(tx: PoolClient, tenant: string | null, session: string): Promise<boolean> {
  const text = 'select 1 from sessions where id = $1 and tenant_id = $2 and persisted for update';
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
