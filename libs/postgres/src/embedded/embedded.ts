import { accessSync, closeSync, constants, existsSync, openSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import { errorCode } from '@fairlead/schema';
import { locateBinaries } from './binaries';
import { createCluster, forgetPassword, readPassword, removeUnfinished } from './cluster';
import { connect } from '../database/database';
import { findPostmaster, isAlive, stopPostmaster, type Postmaster } from './postmaster';
import { LOCKS } from '../database/locks';
import { DatabaseProblem } from '../database/problem';
import { start } from './program';
import { serverUser } from './server-user';

interface EmbeddedOptions {
  /** Directory for PostgreSQL alone. It is created at the first start, and used by one process at a time. */
  readonly dataDir: string;
  /** Receives lines for the operator: a server was taken over, has ended or was started again. */
  readonly log?: (line: string) => void;
  /** Server settings in place of the durable ones, for servers that live as long as a test run. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface EmbeddedPostgres {
  /** With user and password; stays the same until `stop`. */
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

interface Running extends Postmaster {
  /** Connection that holds the lock of ownership. The lock ends with it, however this process ends. */
  readonly owner: Client;
}

const SETTINGS: Readonly<Record<string, string>> = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_connections: '100',
  shared_buffers: '128MB',
  max_wal_size: '2GB',
  wal_buffers: '16MB',
  wal_compression: 'off',
  jit: 'off',
  log_min_messages: 'warning',
  timezone: 'UTC',
  log_timezone: 'UTC',
};
const ATTEMPTS = 8;
const ANSWER_MS = 5_000;
/** The server refuses the stored password, because a power cut left only a part of its file. */
const REFUSED = 'refused';
const WRONG_PASSWORD = '28P01';

/**
 * Starts a PostgreSQL server of our own on a free port of 127.0.0.1, and starts it again on that port whenever it ends
 * before `stop`. A server that an earlier process left behind is taken over when it answers, else stopped.
 * @throws DatabaseProblem when the directory is used by another live process or the server cannot run.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  const log = options.log ?? (() => undefined);
  const settings = { ...SETTINGS, ...options.settings };
  let running = await launch(dataDir, settings, log);
  removeUnfinished(dataDir);
  const { port } = running;
  let stopping = false;
  let restarting: Promise<void> = Promise.resolve();

  const watch = ({ owner }: Running): void => {
    owner.once('end', () => {
      if (!stopping) restarting = restart();
    });
  };
  const restart = async (): Promise<void> => {
    log('PostgreSQL ended unexpectedly and is started again.');
    for (;;) {
      try {
        running = await launch(dataDir, settings, log, port);
        watch(running);
        return;
      } catch (error) {
        log(error instanceof Error ? error.message : String(error));
        await delay(1_000);
        if (stopping) return;
      }
    }
  };
  watch(running);
  // A process that ends without `stop` leaves no server behind, as long as it can still say so.
  const abandon = () => {
    if (isAlive(running.pid)) process.kill(running.pid, 'SIGQUIT');
  };
  process.once('exit', abandon);
  return {
    url: address(dataDir, port),
    get pid() {
      return running.pid;
    },
    async stop() {
      stopping = true;
      await restarting;
      await stopPostmaster(running.pid);
      process.off('exit', abandon);
      await running.owner.end().catch(() => undefined);
    },
  };
}

/** Returns the URL of the server on a data directory, whichever process started it; undefined when none runs. */
export function findEmbedded(dataDir: string): string | undefined {
  const directory = resolve(dataDir);
  const running = findPostmaster(join(directory, 'cluster'));
  return running && address(directory, running.port);
}

async function launch(
  dataDir: string,
  settings: Readonly<Record<string, string>>,
  log: (line: string) => void,
  fixedPort?: number,
): Promise<Running> {
  requireAccess(dataDir);
  for (let attempt = 1; ; attempt++) {
    const left = findPostmaster(join(dataDir, 'cluster'));
    if (left) {
      const running = await own(dataDir, left);
      if (running === REFUSED) forgetPassword(dataDir);
      else if (running && (fixedPort ?? running.port) === running.port) {
        log(`PostgreSQL left running by an earlier process (${left.pid}) is taken over.`);
        return running;
      }
      log(`PostgreSQL left behind by an earlier process (${left.pid}) does not answer and is stopped.`);
      await stopPostmaster(left.pid);
    }
    const spawned = await spawnPostmaster(dataDir, settings, fixedPort ?? (await freePort()));
    const running = await own(dataDir, spawned);
    if (running === REFUSED) {
      log('PostgreSQL does not take the password that is kept for it and is given a new one.');
      await stopPostmaster(spawned.pid);
      forgetPassword(dataDir);
    } else if (running) return running;
    if (attempt === ATTEMPTS) throw new DatabaseProblem(`PostgreSQL does not start: ${lastLine(dataDir)}`);
    // The port or the data directory may have been taken in between, or children of a killed server still be ending.
    await delay(attempt * 100);
  }
}

async function spawnPostmaster(
  dataDir: string,
  settings: Readonly<Record<string, string>>,
  port: number,
): Promise<Postmaster> {
  const user = serverUser(dataDir);
  const binaries = locateBinaries(user);
  await createCluster(dataDir, binaries, user, settings.fsync === 'on');
  const log = openSync(logFile(dataDir), 'w', 0o600);
  const child = start({
    file: join(binaries, 'bin', 'postgres'),
    arguments: (path) => [
      '-D',
      `${path}/cluster`,
      ...Object.entries({ listen_addresses: '127.0.0.1', unix_socket_directories: '', ...settings, port }).flatMap(
        ([name, value]) => ['-c', `${name}=${value}`],
      ),
    ],
    user,
    directory: dataDir,
    output: log,
  });
  closeSync(log);
  child.unref();
  await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  return { pid: child.pid ?? 0, port };
}

/**
 * Connects to a server and takes the lock of ownership; undefined when the server ends or does not answer, REFUSED when
 * it does not take the password.
 * @throws DatabaseProblem when a live process holds the lock.
 */
async function own(dataDir: string, { pid, port }: Postmaster): Promise<Running | typeof REFUSED | undefined> {
  let deadline = Date.now() + ANSWER_MS;
  while (isAlive(pid) && Date.now() < deadline) {
    try {
      const owner = await connect(address(dataDir, port), ANSWER_MS);
      await lock(owner, dataDir);
      return { pid, port, owner };
    } catch (error) {
      if (error instanceof DatabaseProblem) throw error;
      if (errorCode(error) === WRONG_PASSWORD) return REFUSED;
      // Recovering from a crash can take minutes; a server that says so is alive.
      if (errorCode(error) === '57P03') deadline = Date.now() + ANSWER_MS;
      await delay(10);
    }
  }
  return undefined;
}

async function lock(owner: Client, dataDir: string): Promise<void> {
  await owner.query(`set application_name = 'fairlead process ${process.pid}'`);
  // The connection of an owner that was killed just now may take a moment to end.
  for (const deadline = Date.now() + 1_000; ;) {
    const { rows } = await owner.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
      LOCKS.embeddedOwner,
    ]);
    if (rows[0]?.taken) return;
    if (Date.now() > deadline) break;
    await delay(20);
  }
  const { rows } = await owner.query<{ application_name: string }>(
    `select application_name from pg_locks join pg_stat_activity using (pid) where locktype = 'advisory' and objid = $1 and granted`,
    [LOCKS.embeddedOwner],
  );
  await owner.end();
  const holder = rows[0]?.application_name ?? 'another process';
  throw new DatabaseProblem(
    `The data directory ${dataDir} is in use by ${holder}: stop that one or choose another FAIRLEAD_DATA_DIR.`,
  );
}

function requireAccess(dataDir: string): void {
  try {
    if (existsSync(dataDir)) accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const why =
      errorCode(error) === 'EROFS'
        ? 'is on a file system that is mounted read-only: mount it writable'
        : 'belongs to another user: run as that user';
    throw new DatabaseProblem(`The data directory ${dataDir} ${why} or choose another FAIRLEAD_DATA_DIR.`, {
      cause: error,
    });
  }
}

function address(dataDir: string, port: number): string {
  return `postgres://postgres:${encodeURIComponent(readPassword(dataDir))}@127.0.0.1:${port}/postgres`;
}

function logFile(dataDir: string): string {
  return join(dataDir, 'postgres.log');
}

function lastLine(dataDir: string): string {
  const lines = readFileSync(logFile(dataDir), 'utf8').trim().split('\n');
  return lines.findLast((line) => /FATAL|PANIC|ERROR/.test(line)) ?? lines.at(-1) ?? 'it wrote no reason';
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
