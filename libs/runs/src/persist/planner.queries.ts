import type { Pool } from 'pg';

const TABLES = ['examples', 'runs', 'feedback'];

/**
 * Has PostgreSQL analyse those tables of rows of which it knows fewer than the `rows` that were just copied there: a fresh
 * installation would plan its first queries for tables that are empty until autovacuum comes by.
 */
export async function analyseFilled(pool: Pool, rows: number): Promise<void> {
  const { rows: found } = await pool.query<{ name: string }>(
    'select relname as name from pg_class where oid = any($1::regclass[]) and reltuples < $2',
    [TABLES, rows],
  );
  for (const { name } of found) await pool.query(`analyze ${name}`);
}
