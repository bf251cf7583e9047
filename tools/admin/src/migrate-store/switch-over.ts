import type { EventStore } from '@fairlead/eventing';
import { transaction } from '@fairlead/postgres';
import type { Pool, PoolClient } from 'pg';

/** Where the database holds positions of the log. */
const POSITIONS = [
  ['checkpoints', 'position'],
  ['checkpoints', 'event_position'],
  ['log_hashes', 'position'],
  ['webhooks', 'since'],
] as const;

/**
 * Makes the new log the one that counts, in one transaction: whatever names a position names that of the same event in
 * the new log, so that followers go on where they were, and the old one takes no more appends.
 */
export async function switchOver(database: Pool, to: EventStore, place: string): Promise<void> {
  await transaction(database, async (tx) => {
    for (const [table, column] of POSITIONS) await translateColumn(tx, to, table, column);
    await tx.query(
      `insert into log_move (store, finished) values ($1, now())
       on conflict (single) do update set store = excluded.store, finished = excluded.finished`,
      [place],
    );
    await tx.query(
      'create trigger moved before insert on events for each statement execute function refuse_moved_log()',
    );
  });
}

/** True when the log has been moved already. */
export async function isMoved(database: Pool): Promise<boolean> {
  return (await database.query('select from log_move where finished is not null')).rowCount === 1;
}

/** All values at once: a new position can be another's old one. */
async function translateColumn(tx: PoolClient, to: EventStore, table: string, column: string): Promise<void> {
  const there = await tx.query<{ there: boolean }>('select to_regclass($1) is not null as there', [table]);
  if (!there.rows[0]!.there) return;
  const { rows } = await tx.query<{ old: string }>(
    `select distinct "${column}" as old from ${table} where "${column}" is not null`,
  );
  const news: string[] = [];
  for (const { old } of rows) news.push(String(await translate(tx, to, BigInt(old))));
  await tx.query(
    `update ${table} set "${column}" = moved.new
     from unnest($1::bigint[], $2::bigint[]) as moved(old, new) where "${column}" = moved.old`,
    [rows.map(({ old }) => old), news],
  );
}

/** The position in the new log of the newest event up to a position of the old one. */
async function translate(tx: PoolClient, to: EventStore, position: bigint): Promise<bigint> {
  const { rows } = await tx.query<{ stream: string; version: number }>(
    'select stream, version from events where "position" <= $1 order by "position" desc limit 1',
    [position],
  );
  if (!rows[0]) return 0n;
  return (await to.read(rows[0].stream, rows[0].version - 1))[0]!.position;
}
