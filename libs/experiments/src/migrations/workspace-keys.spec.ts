import { eventingMigrations } from '@fairlead/eventing';
import { connect, openDatabase, replacePrimaryKeys } from '@fairlead/postgres';
import { Pool } from 'pg';
import { testDatabase, type TestDatabase, until } from '@fairlead/postgres/testing';
import { experimentsMigrations } from '../domain';
import { WorkspaceKeys1764900062000 } from './workspace-keys';

const ALL = [...eventingMigrations, ...experimentsMigrations];
const BEFORE = ALL.filter(({ name }) => Number(name.slice(-13)) < 1764900062000);
const KEYS = Object.keys(new WorkspaceKeys1764900062000().indexes);
const TENANTS = [crypto.randomUUID(), crypto.randomUUID()];

let database: TestDatabase;
/** Connections of a service of the version before. */
let before: Pool;
beforeAll(async () => {
  database = await testDatabase(BEFORE);
  before = new Pool({ connectionString: database.url, application_name: 'fairlead', idleTimeoutMillis: 0, max: 1 });
  for (const tenant of TENANTS) {
    const statements = [
      `insert into datasets (id, tenant_id, name, created_at, modified_at, externally_managed, version)
       select gen_random_uuid(), $1, n::text, now(), now(), false, 1 from generate_series(1, 100) n`,
      `insert into sessions (id, tenant_id, name, start_time, created_at, version)
       select gen_random_uuid(), $1, n::text, now(), now(), 1 from generate_series(1, 100) n`,
      `insert into examples (id, dataset_id, tenant_id, valid_from, created_at, name, inputs)
       select gen_random_uuid(), id, tenant_id, now(), now(), 'one', '{}' from datasets cross join generate_series(1, 20)
       where tenant_id = $1`,
      `insert into payloads (id, tenant_id, sha256, bytes)
       select gen_random_uuid(), $1, n::text, 1 from generate_series(1, 100) n`,
      'insert into session_run_bytes select id, tenant_id, 1 from sessions where tenant_id = $1',
    ];
    for (const statement of statements) await database.pool.query(statement, [tenant]);
  }
});
afterAll(async () => {
  if (!before.ended) await before.end();
  await database.drop();
});

/** A service of the version before stores a session, its bytes, and an example. */
async function storeAsBefore(): Promise<void> {
  const pool = before;
  const values = [crypto.randomUUID(), TENANTS[0]];
  for (let time = 0; time < 2; time++) {
    await pool.query(
      `insert into sessions (id, tenant_id, name, start_time, created_at, version) values ($1, $2, $1::uuid::text, now(), now(), 1)
       on conflict (id) do nothing`,
      values,
    );
    await pool.query(
      `insert into session_run_bytes as b (session_id, tenant_id, bytes) values ($1, $2, 1)
       on conflict (session_id) do update set bytes = b.bytes + excluded.bytes`,
      values,
    );
  }
  await pool.query(
    `insert into examples (id, dataset_id, tenant_id, valid_from, created_at, name, inputs)
     values ($1, $1, $2, now(), now(), 'one', '{}')`,
    values,
  );
}

const stateOf = async (name: string) =>
  (
    await database.pool.query<{ valid: boolean }>(
      'select indisvalid as valid from pg_index where indexrelid = to_regclass($1)',
      [name],
    )
  ).rows[0]?.valid;

const upgrade = async () => (await openDatabase({ url: database.url, migrations: ALL })).end();

it('adds keys that begin with the workspace while the version before writes, also when it is killed at each of them', async () => {
  for (const key of KEYS) {
    const reader = await connect(database.url);
    // A build waits for the end of transactions that are older.
    await reader.query('begin isolation level repeatable read');
    await reader.query('select 1');
    // Those before it are built while nobody reads.
    const upgraded = upgrade().then(
      () => 'complete',
      () => 'killed',
    );
    const build = await until(async () => {
      const { rows } = await database.pool.query<{ pid: number; name: string }>(
        `select pid, index_relid::regclass::text as name from pg_stat_progress_create_index
         where datname = current_database() and phase = 'waiting for old snapshots'`,
      );
      return rows[0];
    });
    expect(build.name).toBe(key);
    await storeAsBefore();
    await database.pool.query('select pg_terminate_backend($1, 5000)', [build.pid]);
    expect(await upgraded).toBe('killed');
    expect(await stateOf(key)).toBe(false);
    await storeAsBefore();
    await reader.query('rollback');
    await completeUpTo(key);
    await reader.end();
  }
  await upgrade();
  await storeAsBefore();
  for (const key of KEYS) expect([key, await stateOf(key)]).toEqual([key, true]);
  const { rows } = await database.pool.query("select name from migrations where name like 'WorkspaceKeys%'");
  expect(rows).toEqual([{ name: 'WorkspaceKeys1764900062000' }]);
});

/** Builds the keys up to one, so that the next upgrade is killed at the one after it. */
async function completeUpTo(last: string): Promise<void> {
  const runner = database.db.createQueryRunner();
  const { indexes } = new WorkspaceKeys1764900062000();
  class Part extends WorkspaceKeys1764900062000 {
    override readonly indexes = Object.fromEntries(
      Object.entries(indexes).slice(0, KEYS.indexOf(last) + 1),
    ) as typeof indexes;
  }
  await new Part().up(runner);
  await runner.release();
}

const TABLES = Object.values(new WorkspaceKeys1764900062000().indexes).map((columns) => columns.split(' ')[0]!);

/** Unique keys of tables with the column `id` or that of a session, the primary one first. */
async function keysOf(tables: readonly string[]): Promise<Record<string, string[]>> {
  const { rows } = await database.pool.query<{ table: string; keys: string[] }>(
    `select name as table, array_agg(columns order by indisprimary desc) as keys
     from unnest($1::text[]) t (name) join pg_index on indrelid = name::regclass
       cross join substring(pg_get_indexdef(indexrelid) from '\\((.*)\\)') columns
     where indisunique and columns ~ '\\m(session_)?id\\M' group by name`,
    [tables],
  );
  return Object.fromEntries(rows.map(({ table, keys }) => [table, keys]));
}

/** A service of this version stores a session twice. */
async function store(): Promise<void> {
  for (let time = 0; time < 2; time++)
    await database.pool.query(
      `insert into sessions (id, tenant_id, name, start_time, created_at, version) values ($1, $2, $1::uuid::text, now(), now(), 1)
       on conflict (tenant_id, id) do nothing`,
      [crypto.randomUUID(), TENANTS[0]],
    );
}

it('replaces the earlier keys when no process of the version before is connected, also when it is killed at each of them', async () => {
  await upgrade();
  for (const [table, keys] of Object.entries(await keysOf(TABLES))) expect([table, keys.length]).toEqual([table, 2]);
  await storeAsBefore();
  await store();
  await before.end();
  // The server ends a process of its own after the client has gone.
  const connected = `select from pg_stat_activity where datname = current_database() and application_name = 'fairlead'`;
  await until(async () => (await database.pool.query(connected)).rowCount === 0);
  for (const table of TABLES) {
    const reader = await connect(database.url);
    await reader.query(`begin; lock table ${table} in access share mode`);
    const upgradeKilled = async () => {
      let isOver = false;
      const upgraded = upgrade().then(
        () => !(isOver = true),
        () => (isOver = true),
      );
      await until(async () => {
        const { rowCount } = await database.pool.query(
          `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database()
             and wait_event_type = 'Lock' and query like 'alter table ${table} drop constraint%'`,
        );
        return rowCount === 1 || isOver;
      });
      return upgraded;
    };
    // On a slow machine it may have given up before, because others use the table.
    await until(upgradeKilled);
    await reader.end();
    const keys = await keysOf([table]);
    expect(keys[table]).toHaveLength(2);
    expect(keys[table]![0]).not.toMatch(/^tenant_id/);
    await store();
    // The next upgrade is killed at the next table.
    await replaceKeyOf(table);
  }
  await upgrade();
  for (const [table, keys] of Object.entries(await keysOf(TABLES)))
    expect([table, keys]).toEqual([table, [expect.stringMatching(/^tenant_id/)]]);
  await store();
  const late = 'insert into sessions select * from sessions limit 1 on conflict (id) do nothing';
  await expect(database.pool.query(late)).rejects.toMatchObject({ code: '42P10' });
});

/** Replaces the key of one table, as an upgrade does. */
async function replaceKeyOf(table: string): Promise<void> {
  class Part extends WorkspaceKeys1764900062000 {
    override readonly indexes = Object.fromEntries(
      Object.entries(new WorkspaceKeys1764900062000().indexes).filter(([, columns]) => columns.startsWith(`${table} `)),
    ) as WorkspaceKeys1764900062000['indexes'];
  }
  const client = await connect(database.url);
  await replacePrimaryKeys(client, [Part]);
  await client.end();
}
