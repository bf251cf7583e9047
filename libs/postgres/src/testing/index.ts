import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import { connect, openDatabase, pool, type MigrationClass } from '../database';

export interface TestDatabase {
  readonly db: DataSource;
  readonly pool: Pool;
  readonly url: string;
  /** Closes the connections of `db` and drops the database, whoever else is connected. */
  drop(): Promise<void>;
}

/** The server that runs for the whole test run, with a superuser in its url. Its databases do not survive a crash. */
export function testServer(): { url: string } {
  const url = process.env.FAIRLEAD_TEST_DATABASE_URL;
  if (!url) throw new Error('FAIRLEAD_TEST_DATABASE_URL is not set: the global setup of the tests did not run.');
  return { url };
}

/** A new database with `migrations` applied, for one test file. */
export async function testDatabase(migrations: readonly MigrationClass[]): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await onServer(`create database ${name}`);
  const url = Object.assign(new URL(testServer().url), { pathname: name }).href;
  const db = await openDatabase({ url, migrations, poolSize: 20 });
  return {
    db,
    pool: pool(db),
    url,
    async drop() {
      if (db.isInitialized) await db.destroy();
      await onServer(`drop database if exists ${name} with (force)`);
    },
  };
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
