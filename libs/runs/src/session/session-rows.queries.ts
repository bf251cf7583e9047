import { setTimeout as delay } from 'node:timers/promises';
import { transaction } from '@fairlead/postgres';
import type { Pool, PoolClient } from 'pg';
import { ofSession } from '../common/sql';

/** Tables of what belongs to a session and may be much. */
const TABLES = [
  ...['feedback', 'feedback_changes', 'run_attachments', 'runs', 'replaced_feedback', 'replaced_runs'],
  ...['stored_run_batches', 'trace_counts'],
] as const;
/** Columns in whose order the index of a table has the rows of a session, where a session may have millions. */
const ORDERED = { runs: ['start_time', 'id'], feedback: ['created_at', 'id'] } as const;

type Table = (typeof TABLES)[number];
type Ordered = keyof typeof ORDERED;

/** Rows of each table that are deleted in the transaction of the session itself. */
const MOST_WITH_IT = 1000;
/** Rows that one transaction deletes at first, at least and at most, and the time that it should take (ms). */
const PIECE = { first: 500, least: 50, most: 20_000, ms: 25 };
const START = { time: '-infinity', id: '00000000-0000-0000-0000-000000000000' };

interface Place {
  readonly time: string;
  readonly id: string;
}

/** Deletes what a session has in the transaction of its deletion, as far as that is quick. */
export async function deleteFirstRows(tx: PoolClient, tenant: string | null, session: string): Promise<void> {
  for (const table of TABLES) await deleteSome(tx, table, tenant, session, MOST_WITH_IT);
}

/** Deletes runs of sessions that are gone, because another session sends runs of their ids; returns false without one. */
export async function deleteLeftRuns(tx: PoolClient, tenant: string | null, ids: readonly string[]): Promise<boolean> {
  await deleteLeft(tx, 'feedback', 'run_id', tenant, ids);
  await deleteLeft(tx, 'run_attachments', 'run_id', tenant, ids);
  return (await deleteLeft(tx, 'runs', 'id', tenant, ids)) > 0;
}

/** As `deleteLeftRuns`, of feedback. */
export async function deleteLeftFeedback(
  tx: PoolClient,
  tenant: string | null,
  ids: readonly string[],
): Promise<boolean> {
  return (await deleteLeft(tx, 'feedback', 'id', tenant, ids)) > 0;
}

async function deleteLeft(
  tx: PoolClient,
  table: 'feedback' | 'run_attachments' | 'runs',
  column: 'id' | 'run_id',
  tenant: string | null,
  ids: readonly string[],
): Promise<number> {
  const { rowCount } = await tx.query(
    `delete from ${table} r where r.tenant_id = $1 and r.${column} = any($2::uuid[]) and not ${ofSession('r', '$1')}`,
    [tenant, ids],
  );
  return rowCount ?? 0;
}

/**
 * Deletes what is left of a session that is gone, in short transactions, for half of the time at most: others read and
 * write meanwhile. It can be ended at any time, and begun anew.
 * @throws the reason of `signal`
 */
export async function deleteRows(pool: Pool, tenant: string, session: string, signal?: AbortSignal): Promise<void> {
  for (const table of TABLES) {
    let size = PIECE.first;
    let after: Place | undefined = START;
    for (;;) {
      signal?.throwIfAborted();
      const start = performance.now();
      const from: Place = after;
      const piece = await transaction(pool, async (tx) => {
        // Reading the whole table would meet the rows that were deleted before again and again.
        await tx.query('set local enable_seqscan = off; set local synchronous_commit = off');
        return isOrdered(table)
          ? deleteAfter(tx, table, tenant, session, from, size)
          : { rows: await deleteSome(tx, table, tenant, session, size), last: undefined };
      });
      if (isOrdered(table) ? !piece.last : piece.rows === 0) break;
      after = piece.last ?? from;
      const took = Math.max(performance.now() - start, 1);
      size = Math.round(Math.min(Math.max((size * PIECE.ms) / took, size / 2, PIECE.least), size * 2, PIECE.most));
      await delay(took, undefined, { signal }).catch(() => signal?.throwIfAborted());
    }
  }
}

function isOrdered(table: Table): table is Ordered {
  return Object.hasOwn(ORDERED, table);
}

/** Deletes the rows of a session that follow a place; `last` is the place of the last one unless all are deleted. */
async function deleteAfter(
  tx: PoolClient,
  table: Ordered,
  tenant: string,
  session: string,
  after: Place,
  limit: number,
): Promise<{ rows: number; last: Place | undefined }> {
  const [time, id] = ORDERED[table];
  const own = `tenant_id = $1 and session_id = $2 and (${time}, ${id}) > ($3::timestamptz, $4::uuid)`;
  const values = [tenant, session, after.time, after.id];
  const { rows } = await tx.query<Place>(
    `select ${time}::text as time, ${id} as id from ${table} where ${own} order by ${time}, ${id} offset $5 limit 1`,
    [...values, limit - 1],
  );
  const [last] = rows;
  const upTo = last ? ` and (${time}, ${id}) <= ($5::timestamptz, $6::uuid)` : '';
  const { rowCount } = await tx.query(
    `delete from ${table} where ${own}${upTo}`,
    last ? [...values, last.time, last.id] : values,
  );
  return { rows: rowCount ?? 0, last };
}

async function deleteSome(
  tx: PoolClient,
  table: Table,
  tenant: string | null,
  session: string,
  limit: number,
): Promise<number> {
  const { rowCount } = await tx.query(
    `delete from ${table} where tenant_id = $1 and ctid = any(array(
       select ctid from ${table} where tenant_id = $1 and session_id = $2 limit $3))`,
    [tenant, session, limit],
  );
  return rowCount ?? 0;
}
