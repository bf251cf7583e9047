import { errorCode } from '@fairlead/schema';
import type { Client } from 'pg';
import { OF_EARLIER_SERVICE } from './generation';
import { buildIndex } from './index-builds';
import { LOCKS } from './locks';
import { type MigrationClass, UniqueIndexes } from './migration';

/** Longest wait for a table, behind which all others wait (ms). */
const LOCK_MS = 2000;
const LOCK_TIMEOUT = '55P03';

interface Key {
  readonly index: string;
  readonly table: string;
  /** Table and columns, as `table (column, column)`. */
  readonly columns: string;
}

/**
 * Makes the unique indexes of `migrations` that are to be primary keys what they are to be, and drops the earlier primary
 * keys, unless a process of an earlier version is connected: it would need these. Each table is changed in a transaction of
 * its own, and the tables themselves say what is done, so that it can be ended at any time and begun anew. A process of an
 * earlier version that connects afterwards fails with each statement that names an earlier key; it loses nothing.
 */
export async function replacePrimaryKeys(
  client: Client,
  migrations: readonly MigrationClass[],
  tell: (line: string) => void = () => undefined,
): Promise<void> {
  const keys = migrations.flatMap((migration) => {
    const one = new migration();
    return one instanceof UniqueIndexes && one.arePrimary ? Object.entries(one.indexes) : [];
  });
  const earlier = await withEarlierKeys(
    client,
    keys.map(([index, columns]) => ({ index, table: columns.slice(0, columns.indexOf(' ')), columns })),
  );
  if (earlier.length === 0) return;
  const text = `select count(*)::int as n from pg_stat_activity where ${OF_EARLIER_SERVICE}`;
  const { rows } = await client.query<{ n: number }>(text);
  if (rows[0]!.n > 0) return tell('Earlier keys of tables stay until no process of an earlier version is connected.');
  const lock = 'select pg_try_advisory_lock($1) as taken';
  if (!(await client.query<{ taken: boolean }>(lock, [LOCKS.primaryKeys])).rows[0]!.taken) return;
  await client.query(`set lock_timeout = ${LOCK_MS}`);
  for (const key of await withEarlierKeys(client, earlier)) await replace(client, key, tell);
  await client.query('reset lock_timeout; select pg_advisory_unlock_all()');
}

/** Returns the keys whose tables are there and have another primary key. */
async function withEarlierKeys(client: Client, keys: readonly Key[]): Promise<Key[]> {
  const { rows } = await client.query<{ table: string }>(
    `select t.name as table from unnest($1::text[]) t (name)
       join pg_constraint c on c.conrelid = to_regclass(t.name) and c.contype = 'p'
       join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
     where a.attname <> 'tenant_id'`,
    [keys.map(({ table }) => table)],
  );
  const tables = new Set(rows.map(({ table }) => table));
  return keys.filter(({ table }) => tables.has(table));
}

async function replace(client: Client, { index, table, columns }: Key, tell: (line: string) => void): Promise<void> {
  // A copy of the table that was begun before the index was there has taken its place meanwhile.
  const ask = async (text: string, values?: unknown[]) => (await client.query<object>(text, values)).rows;
  await buildIndex(ask, index, `create unique index concurrently ${index} on ${columns}`);
  try {
    await client.query(
      `alter table ${table} drop constraint ${table}_pkey, add constraint ${table}_pkey primary key using index ${index}`,
    );
  } catch (error) {
    if (errorCode(error) !== LOCK_TIMEOUT) throw error;
    tell(`The key of ${table} is replaced later: others use the table for longer than ${LOCK_MS} ms.`);
  }
}
