import type { EventStore } from '@fairlead/eventing';
import { transaction } from '@fairlead/postgres';
import type { Pool, PoolClient } from 'pg';

/**
 * Makes the new log the one that counts, in one transaction: followers go on at the same event in the new log, and the
 * old one takes no more appends.
 */
export async function switchOver(database: Pool, to: EventStore, place: string): Promise<void> {
  await transaction(database, async (tx) => {
    const { rows } = await tx.query<{ name: string; position: string }>(
      'select name, "position" from checkpoints order by name for update',
    );
    for (const { name, position } of rows) {
      const translated = await translate(tx, to, BigInt(position));
      await tx.query('update checkpoints set "position" = $2 where name = $1', [name, translated]);
    }
    const hashed = await tx.query<{ position: string }>('select "position" from log_hashes for update');
    for (const { position } of hashed.rows) {
      await tx.query('update log_hashes set "position" = $1', [await translate(tx, to, BigInt(position))]);
    }
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

/** Whether the log has been moved already. */
export async function isMoved(database: Pool): Promise<boolean> {
  return (await database.query('select from log_move where finished is not null')).rowCount === 1;
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
