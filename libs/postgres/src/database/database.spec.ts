import type { PoolClient } from 'pg';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isConnectionLost } from '@fairlead/schema';
import { connect, openDatabase, transaction } from './database';
import { opaqueStorage } from './opaque-storage';
import { DatabaseProblem } from './problem';
import { testDatabase, type TestDatabase } from '../testing';

class MakeTable1700000000001 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('create table t (id int, body text)');
    await queryRunner.query('select pg_sleep(0.1)');
    await opaqueStorage(queryRunner, 't', ['body']);
  }
  async down(): Promise<void> {}
}

class FillTable1700000000002 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('insert into t values (1)');
  }
  async down(): Promise<void> {}
}

describe('A database', () => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await testDatabase([]);
  });
  afterEach(() => database.drop());

  it('gets each migration once when several open it at the same moment', async () => {
    const migrations = [MakeTable1700000000001, FillTable1700000000002];
    const open = () => openDatabase({ url: database.url, migrations });
    const opened = await Promise.all([open(), open(), open()]);
    const { rows } = await database.pool.query('select id from t');
    expect(rows).toEqual([{ id: 1 }]);
    await Promise.all(opened.map((pool) => pool.end()));
  });

  it('runs a migration that is older than those it has, when another library brings it', async () => {
    const first = await openDatabase({ url: database.url, migrations: [MakeTable1700000000001] });
    await first.end();
    class Older1600000000000 extends FillTable1700000000002 {}
    const second = await openDatabase({ url: database.url, migrations: [MakeTable1700000000001, Older1600000000000] });
    expect((await second.query('select id from t')).rows).toEqual([{ id: 1 }]);
    await second.end();
  });

  it('never stores opaque columns with the slow default compression', async () => {
    const pool = await openDatabase({ url: database.url, migrations: [MakeTable1700000000001] });
    const { rows } = await database.pool.query<{ attstorage: string; attcompression: string }>(
      `select attstorage, attcompression from pg_attribute where attrelid = 't'::regclass and attname = 'body'`,
    );
    expect(rows[0]?.attstorage === 'e' || rows[0]?.attcompression === 'l').toBe(true);
    await pool.end();
  });

  it('says in one line that it cannot be reached, without the password', async () => {
    const problem = await openDatabase({ url: 'postgres://someone:hidden@127.0.0.1:1/db', migrations: [] }).catch(
      (error: unknown) => error,
    );
    expect(problem).toBeInstanceOf(DatabaseProblem);
    expect(String(problem)).toMatch(/^[^\n]*127\.0\.0\.1:1\/db[^\n]*DATABASE_URL[^\n]*$/);
    expect(String(problem)).not.toContain('hidden');
  });

  it('refuses a wrong password and a missing database at once', async () => {
    const wrong = Object.assign(new URL(database.url), { password: 'wrong' }).href;
    await expect(openDatabase({ url: wrong, migrations: [] })).rejects.toThrow(/password authentication failed/);
    const missing = Object.assign(new URL(database.url), { pathname: 'missing' }).href;
    await expect(openDatabase({ url: missing, migrations: [] })).rejects.toThrow(/does not exist/);
  });

  it('keeps what a transaction did when it resolves and undoes it when it throws', async () => {
    await database.pool.query('create table kept (id int)');
    const insert = (client: PoolClient, id: number) => client.query('insert into kept values ($1)', [id]);
    await transaction(database.pool, (client) => insert(client, 1));
    await expect(
      transaction(database.pool, async (client) => {
        await insert(client, 2);
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    expect((await database.pool.query('select id from kept')).rows).toEqual([{ id: 1 }]);
  });

  it('survives the loss of idle connections and of one in use, and says that the connection was lost', async () => {
    const lost = transaction(database.pool, async (client) => {
      await endOthers(database.url);
      await client.query('select 1');
    });
    const error = await lost.catch((reason: unknown) => reason);
    expect(isConnectionLost(error)).toBe(true);
    expect((await database.pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await endOthers(database.url);
    expect((await transaction(database.pool, (client) => client.query('select 1 as one'))).rows).toEqual([{ one: 1 }]);
  });
});

async function endOthers(url: string): Promise<void> {
  const client = await connect(url);
  await client.query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  );
  await client.end();
}
