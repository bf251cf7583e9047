import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import { connect, type EntityClass, type MigrationClass, openDatabase, openDataSource } from '../database';

export interface TestDatabase {
  /** Runs its statements on `pool`. */
  readonly db: DataSource;
  readonly pool: Pool;
  readonly url: string;
  /** Closes the connections of `pool` and drops the database, whoever else is connected. */
  drop(): Promise<void>;
}

/** The server that runs for the whole test run, with a superuser in its url. Its databases do not survive a crash. */
export function testServer(): { url: string } {
  const url = process.env.FAIRLEAD_TEST_DATABASE_URL;
  if (!url) throw new Error('FAIRLEAD_TEST_DATABASE_URL is not set: the global setup of the tests did not run.');
  return { url };
}

/** A new database with `migrations` applied, and repositories of `entities`, for one test file. */
export async function testDatabase(
  migrations: readonly MigrationClass[],
  entities: readonly EntityClass[] = [],
): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await onServer(`create database ${name}`);
  const url = Object.assign(new URL(testServer().url), { pathname: name }).href;
  const pool = await openDatabase({ url, migrations });
  const database: TestDatabase = {
    db: await openDataSource(pool, entities),
    pool,
    url,
    async drop() {
      if (!database.pool.ended) await database.pool.end();
      await onServer(`drop database if exists ${name} with (force)`);
    },
  };
  return database;
}

async function onServer(statement: string): Promise<void> {
  const client = await connect(testServer().url);
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
export { until } from './until';
