import { setTimeout as delay } from 'node:timers/promises';
import { type Client, Pool, type PoolClient, type PoolConfig } from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { errorCode, isConnectionLost } from '@fairlead/schema';
import { CalmClient } from './calm-client';
import { PROCESS_NAME } from './generation';
import { type MigrationClass, stagesOf } from './migration';
import { replacePrimaryKeys } from './primary-keys';
import { DatabaseProblem } from './problem';
import { requireVersion } from './server-version';
import { watchedClient } from './watched-client';

export type EntityClass = new () => object;

interface DatabaseOptions {
  /** postgres://user:password@host:port/database */
  readonly url: string;
  /** Every migration of every library in this process; those not yet in the database run, oldest timestamp first. */
  readonly migrations: readonly MigrationClass[];
  /** Largest number of connections; 20 by default. */
  readonly poolSize?: number;
}

const CONNECT_MS = 10_000;
const POOL_MS = 5_000;
const LOCK_POLL_MS = 50;
const REFUSED_PATIENCE_MS = 5_000;
const STARTING_PATIENCE_MS = 120_000;

/**
 * Runs the pending migrations under advisory locks, so that processes that start together run each once, and returns a
 * pool of connections. Waits for a server that is starting up. Statements end after two minutes and lock waits after 30
 * seconds unless a transaction sets its own limits.
 * @throws DatabaseProblem when the database cannot be reached, refuses the connection, or is too old.
 */
export async function openDatabase({ url, migrations, poolSize = 20 }: DatabaseOptions): Promise<Pool> {
  const lock = await connectWhenReady(url);
  try {
    const { rows } = await lock.query<{ server_version: string }>('show server_version');
    requireVersion(rows[0]!.server_version);
    for (const stage of stagesOf(migrations)) {
      await take(lock, stage.lock);
      await migrate(url, stage.migrations);
      await lock.query('select pg_advisory_unlock($1)', [stage.lock]);
    }
    await replacePrimaryKeys(lock, migrations);
  } finally {
    await lock.end();
  }
  return openPool(url, {
    max: poolSize,
    statement_timeout: 120_000,
    lock_timeout: 30_000,
    idle_in_transaction_session_timeout: 300_000,
  });
}

/**
 * Returns a TypeORM data source on `pool`: the statements of its repositories run on connections of the pool, with the
 * limits of the pool. It need not be closed.
 */
export function openDataSource(pool: Pool, entities: readonly EntityClass[]): Promise<DataSource> {
  return onPool(pool, { entities: [...entities] }).initialize();
}

/** Runs `work` in one transaction: committed when it resolves, rolled back when it throws. */
export async function transaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((rollback: Error) => (broken = rollback));
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Takes an advisory lock. It waits between its statements, because builds of indexes wait for every open statement. */
async function take(client: Client, lock: number): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [lock]);
    if (rows[0]!.taken) return;
    await delay(LOCK_POLL_MS);
  }
}

async function migrate(url: string, migrations: readonly MigrationClass[]): Promise<void> {
  const pool = openPool(url, { max: 2, statement_timeout: 0, lock_timeout: 0 });
  try {
    const db = await onPool(pool, { migrations: [...migrations] }).initialize();
    await db.runMigrations({ transaction: 'each' });
  } finally {
    await pool.end();
  }
}

function openPool(url: string, limits: PoolConfig): Pool {
  const pool = new Pool({
    connectionString: url,
    connectionTimeoutMillis: POOL_MS,
    application_name: PROCESS_NAME,
    Client: watchedClient(),
    keepAlive: true,
    ...limits,
  });
  // A connection that is lost while nobody uses it is replaced by the next one.
  pool.on('error', () => undefined);
  return pool;
}

function onPool(pool: Pool, options: Pick<DataSourceOptions, 'entities' | 'migrations'>): DataSource {
  /** TypeORM makes the pool that it uses from this class of its `driver`. */
  class Given {
    constructor() {
      return pool;
    }
  }
  return new DataSource({
    type: 'postgres',
    driver: { Pool: Given },
    installExtensions: false,
    logging: false,
    ...options,
  });
}

async function connectWhenReady(url: string): Promise<Client> {
  const start = Date.now();
  for (;;) {
    try {
      return await connect(url);
    } catch (error) {
      const patience = errorCode(error) === '57P03' ? STARTING_PATIENCE_MS : REFUSED_PATIENCE_MS;
      if (!isConnectionLost(error) || Date.now() - start > patience) throw unreachable(url, error);
      await delay(100);
    }
  }
}

/** Opens one connection. When the server goes away, its errors do not end the process. */
export async function connect(url: string, patienceMs = CONNECT_MS): Promise<Client> {
  const client = new CalmClient({ connectionString: url, connectionTimeoutMillis: patienceMs, keepAlive: true });
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

function unreachable(url: string, error: unknown): DatabaseProblem {
  const reason = error instanceof Error ? error.message || errorCode(error) : String(error);
  return new DatabaseProblem(`The database at ${place(url)} cannot be used (${reason}): check DATABASE_URL.`, {
    cause: error,
  });
}

/** Returns host, port and name of a database URL, without user and password. */
function place(url: string): string {
  if (!URL.canParse(url)) return 'an address that is not a URL';
  const { host, pathname } = new URL(url);
  return host + pathname;
}
