import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client, Pool } from 'pg';
import type { DataSource } from 'typeorm';
import { connect, type EntityClass, openDatabase, openDataSource } from '../database/database';
import type { MigrationClass } from '../database/migration';
import { until } from './until';

export interface TestDatabase {
  /** Runs its statements on `pool`. */
  readonly db: DataSource;
  readonly pool: Pool;
  readonly url: string;
  /** Closes the connections of `pool` and drops the database, whoever else is connected. */
  drop(): Promise<void>;
}

/** Longest delay of the end of a database by connections in use (ms). */
const DROP_MS = 30_000;

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
  await onServer(async (client) => {
    const template = migrations.length === 0 ? 'template1' : await templateOf(migrations, client);
    // Copies files instead of logging each page, which takes half the time where nothing must be durable.
    await client.query(`create database ${name} template ${template} strategy file_copy`);
  });
  const url = urlOf(name);
  const pool = await openDatabase({ url, migrations });
  const database: TestDatabase = {
    db: await openDataSource(pool, entities),
    pool,
    url,
    async drop() {
      const ended = database.pool.ended ? undefined : database.pool.end();
      // A connection that is still in use is closed with the database.
      if (ended) await Promise.race([ended, delay(DROP_MS, undefined, { ref: false })]);
      await onServer((client) => client.query(`drop database if exists ${name} with (force)`));
      await ended;
    },
  };
  return database;
}

/**
 * Returns the name of a database with `migrations` applied, to be copied: that takes less time than to run them. It is
 * made once in a test run, by whichever process needs it first.
 */
async function templateOf(migrations: readonly MigrationClass[], client: Client): Promise<string> {
  const texts = migrations.map((migration) => `${migration.name} ${String(migration)}`);
  const template = `template_${createHash('sha1').update(texts.join('\0')).digest('hex')}`;
  // Held until the connection ends.
  await client.query('select pg_advisory_lock(hashtext($1))', [template]);
  const { rowCount } = await client.query('select from pg_database where datname = $1 and datistemplate', [template]);
  if (rowCount === 1) return template;
  // A process that has made a part of it was killed, and its connections may still be open.
  await client.query(`drop database if exists ${template} with (force)`);
  await client.query(`create database ${template}`);
  await (await openDatabase({ url: urlOf(template), migrations })).end();
  await client.query(`alter database ${template} with allow_connections false`);
  // A database cannot be copied while the server still ends connections to it.
  await until(
    () => client.query('select from pg_stat_activity where datname = $1', [template]),
    (left) => left.rowCount === 0,
  );
  await client.query(`alter database ${template} with is_template true`);
  return template;
}

function urlOf(database: string): string {
  return Object.assign(new URL(testServer().url), { pathname: database }).href;
}

async function onServer(work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = await connect(testServer().url);
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
export { until } from './until';
