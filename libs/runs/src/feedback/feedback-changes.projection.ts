import { idOf, type Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import { workspaceOf } from '../common/rows.queries';
import type { FeedbackChanged, FeedbackDeleted } from '../session/experiment';

type Change = Partial<FeedbackChanged['data']>;

const COLUMNS = ['score', 'score_sent', 'value', 'comment', 'correction', 'modified_at'] as const;

interface Row {
  readonly id: string;
  readonly change: string;
  readonly deleted: boolean;
}

export async function applyFeedbackChange(
  event: Recorded<FeedbackChanged | FeedbackDeleted>,
  tx: PoolClient,
): Promise<void> {
  const tenant = await workspaceOf(tx, event, 'sessions');
  const { id } = event.data;
  const deleted = event.type === 'FeedbackDeleted';
  const { rows } = await tx.query<Row>(
    'select id, change, deleted from feedback_changes where tenant_id = $1 and id = $2',
    [tenant, id],
  );
  const before = rows[0] ? (JSON.parse(rows[0].change) as Change) : {};
  const change = JSON.stringify({ ...before, ...event.data });
  await tx.query(
    `insert into feedback_changes (tenant_id, id, session_id, change, deleted) values ($1, $2, $3, $4, $5)
     on conflict (tenant_id, id) do update set change = excluded.change, deleted = feedback_changes.deleted or excluded.deleted`,
    [tenant, id, idOf(event.stream), change, deleted],
  );
  await applyToRow({ id, change, deleted: deleted || (rows[0]?.deleted ?? false) }, tenant, idOf(event.stream), tx);
}

export async function applyFeedbackChanges(tx: PoolClient, tenant: string, session: string): Promise<void> {
  const { rows } = await tx.query<Row>(
    'select id, change, deleted from feedback_changes where session_id = $1 and tenant_id = $2',
    [session, tenant],
  );
  for (const row of rows) await applyToRow(row, tenant, session, tx);
}

/** The row may have been moved to those of replaced runs. */
async function applyToRow(
  { id, change, deleted }: Row,
  tenant: string | null,
  session: string,
  tx: PoolClient,
): Promise<void> {
  const changed = JSON.parse(change) as Change;
  const columns = COLUMNS.filter((name) => changed[name] !== undefined);
  const settings = columns.map((name, nth) => `${name} = $${nth + 4}`);
  const values = columns.map((name) => changed[name]);
  for (const table of ['feedback', 'replaced_feedback']) {
    const where = 'where id = $1 and session_id = $2 and tenant_id = $3';
    if (deleted) await tx.query(`delete from ${table} ${where}`, [id, session, tenant]);
    else await tx.query(`update ${table} set ${settings.join(', ')} ${where}`, [id, session, tenant, ...values]);
  }
}
