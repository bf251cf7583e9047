import { setTimeout as delay } from 'node:timers/promises';
import type { Client, Pool, PoolClient } from 'pg';
import { DataSource, type MigrationInterface } from 'typeorm';
import { CalmClient } from './calm-client';
import { LOCKS } from './locks';
import { DatabaseProblem, errorCode, isConnectionLost } from './problem';
import { requireVersion } from './embedded/server-version';
import { watchedClient } from './watched-client';

export type MigrationClass = new () => MigrationInterface;

interface DatabaseOptions {
  /** postgres://user:password@host:port/database */
  readonly url: string;
  /** Every migration of every library in this process; those not yet in the database run, oldest timestamp first. */
  readonly migrations: readonly MigrationClass[];
  readonly entities?: readonly (new () => object)[];
  /** Most connections held at a time, default 20. */
  readonly poolSize?: number;
}

const CONNECT_MS = 10_000;
/** For a connection of the pool: one that hangs must not hold up what could go on long since. */
const POOL_MS = 5_000;
const REFUSED_PATIENCE_MS = 5_000;
const STARTING_PATIENCE_MS = 120_000;

/**
 * Connects, and runs the pending migrations under an advisory lock, so that processes that start together run each
 * once. Waits for a server that is starting up. Statements end after two minutes and lock waits after 30 seconds
 * unless a transaction sets its own limits.
 * @throws DatabaseProblem when the database cannot be reached, refuses the connection, or is too old.
 */
export async function openDatabase(options: DatabaseOptions): Promise<DataSource> {
  const lock = await connectWhenReady(options.url);
  try {
    const { rows } = await lock.query<{ server_version: string }>('show server_version');
    requireVersion(rows[0]!.server_version);
    await lock.query('select pg_advisory_lock($1)', [LOCKS.migration]);
    await migrate(options);
  } finally {
    await lock.end();
  }
  return source(options, options.poolSize ?? 20, {
    statement_timeout: 120_000,
    lock_timeout: 30_000,
    idle_in_transaction_session_timeout: 300_000,
  });
}

/** The connection pool behind a data source, for hot statements and COPY. */
export function pool(db: DataSource): Pool {
  return (db.driver as unknown as { master: Pool }).master;
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

async function migrate(options: DatabaseOptions): Promise<void> {
  const db = await source(options, 2, { statement_timeout: 0, lock_timeout: 0 });
  try {
    await db.runMigrations({ transaction: 'each' });
  } finally {
    await db.destroy();
  }
}

async function source(options: DatabaseOptions, poolSize: number, limits: Record<string, number>): Promise<DataSource> {
  const db = new DataSource({
    type: 'postgres',
    url: options.url,
    migrations: [...options.migrations],
    entities: [...(options.entities ?? [])],
    poolSize,
    connectTimeoutMS: POOL_MS,
    applicationName: 'fairlead',
    installExtensions: false,
    logging: false,
    extra: { Client: watchedClient(), keepAlive: true, ...limits },
  });
  return db.initialize();
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

/** One connection that never crashes the process when the server goes away. */
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

/** Host, port and name of a database URL, without user and password. */
function place(url: string): string {
  if (!URL.canParse(url)) return 'an address that is not a URL';
  const { host, pathname } = new URL(url);
  return host + pathname;
}
