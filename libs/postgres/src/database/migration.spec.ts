import type { Client } from 'pg';
import { testDatabase, type TestDatabase, until } from '../testing';
import { connect, openDatabase } from './database';
import { LOCKS } from './locks';
import { Migration, stagesOf, UniqueIndexes } from './migration';

class Tables1700000000001 extends Migration {
  readonly statements = [
    'create table t (id int primary key, tenant int)',
    'insert into t select n, n % 3 from generate_series(1, 100) n',
  ];
}

class Keys1700000000002 extends UniqueIndexes {
  readonly indexes = { t_by_tenant: 't (tenant, id)', t_by_both: 't (id, tenant)' };
}

class Later1700000000003 extends Migration {
  readonly statements = ['alter table t add constraint t_by_tenant unique using index t_by_tenant'];
}

const ALL = [Later1700000000003, Keys1700000000002, Tables1700000000001];

let database: TestDatabase;
let reader: Client;
beforeEach(async () => {
  database = await testDatabase([]);
  await (await openDatabase({ url: database.url, migrations: [Tables1700000000001] })).end();
  reader = await connect(database.url);
});
afterEach(async () => {
  await reader.end();
  await database.drop();
});

const query = async <T>(text: string) => (await database.pool.query(text)).rows as T[];
const open = async () => (await openDatabase({ url: database.url, migrations: ALL })).end();

/** Begins a transaction for which builds of indexes wait. */
async function read(): Promise<void> {
  await reader.query('begin isolation level repeatable read');
  await reader.query('select 1');
}

/** Waits until the server builds an index and can go on only when `reader` ends its transaction. */
const waiting = () =>
  until(
    () =>
      query<{ pid: number; index: number }>(
        `select pid, index_relid as index from pg_stat_progress_create_index
         where datname = current_database() and phase = 'waiting for old snapshots'`,
      ),
    (builds) => builds.length === 1,
  );

const indexes = () =>
  query<{ name: string; unique: boolean; valid: boolean }>(
    `select relname as name, indisunique as unique, indisvalid as valid from pg_index join pg_class c on c.oid = indexrelid
     where indrelid = 't'::regclass and not indisprimary order by name`,
  );
const COMPLETE = ['t_by_both', 't_by_tenant'].map((name) => ({ name, unique: true, valid: true }));
const recorded = async () =>
  (await query<{ name: string }>('select name from migrations order by id')).map(({ name }) => name);

describe('Migrations outside a transaction', () => {
  it('run after those before them and before those after them', () => {
    expect(stagesOf(ALL)).toEqual([
      { lock: LOCKS.migration, migrations: [Tables1700000000001] },
      { lock: LOCKS.indexBuilds, migrations: [Tables1700000000001, Keys1700000000002] },
      { lock: LOCKS.migration, migrations: [Tables1700000000001, Keys1700000000002, Later1700000000003] },
    ]);
  });

  it('build indexes once while others write, start and wait for their turn', async () => {
    await read();
    const opened = [open(), open()];
    await waiting();
    await query('insert into t values (101, 0)');
    // A process of an earlier version waits in a statement.
    await query(`select pg_advisory_lock(${LOCKS.migration}), pg_advisory_unlock(${LOCKS.migration})`);
    await reader.query('commit');
    await Promise.all(opened);
    expect(await indexes()).toEqual(COMPLETE);
    expect(await recorded()).toEqual(ALL.map(({ name }) => name).reverse());
  });

  it('build an index anew whose build was cut off', async () => {
    await read();
    const opened = open();
    const [build] = await waiting();
    const lost = expect(opened).rejects.toThrow();
    await query(`select pg_terminate_backend(${build!.pid}, 5000)`);
    await lost;
    await reader.query('commit');
    expect(await indexes()).toEqual([{ name: 't_by_tenant', unique: true, valid: false }]);
    await open();
    expect(await indexes()).toEqual(COMPLETE);
  });

  it('wait for a build that the server goes on with after its process was killed', async () => {
    await read();
    const server = await connect(database.url);
    const built = server.query('create unique index concurrently t_by_tenant on t (tenant, id)');
    const [build] = await waiting();
    const opened = open();
    await until(
      () =>
        query(`select 1 from pg_locks join pg_database d on d.oid = database
         where datname = current_database() and locktype = 'advisory' and objid = ${LOCKS.indexBuilds}`),
      (held) => held.length === 1,
    );
    await reader.query('commit');
    await Promise.all([built, opened]);
    await server.end();
    expect(await indexes()).toEqual(COMPLETE);
    expect(await query(`select 't_by_tenant'::regclass::oid as index`)).toEqual([{ index: build!.index }]);
  });
});
