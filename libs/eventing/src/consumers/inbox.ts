import { transaction } from '@fairlead/postgres';
import type { Pool, PoolClient } from 'pg';

/**
 * Number of connections that a consumer holds while it waits for one more: that of its batch or attempt, and that of
 * {@link once}.
 */
export const CONSUMER_HOLDS = 2;

/**
 * Runs `work` unless `consumer` has handled event `sequence` of `subject`, or a later one. The record of it and the
 * work are one transaction, so that effects through `tx` happen once. Returns whether the work ran.
 */
export async function once(
  pool: Pool,
  consumer: string,
  subject: string,
  sequence: number,
  work: (tx: PoolClient) => Promise<void>,
): Promise<boolean> {
  return transaction(pool, async (tx) => {
    const noted = await tx.query(
      `insert into inbox (consumer, subject, sequence) values ($1, $2, $3)
       on conflict (consumer, subject) do update set sequence = excluded.sequence
       where inbox.sequence < excluded.sequence`,
      [consumer, subject, sequence],
    );
    const isNew = noted.rowCount === 1;
    if (isNew) await work(tx);
    return isNew;
  });
}
