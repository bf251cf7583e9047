import { connect as connectTo, type Socket } from 'node:net';
import { FairShare, NoPlace, TooManyRequests } from '@fairlead/schema';
import { Pool, type PoolClient } from 'pg';
import { PROCESS_NAME } from './generation';
import { currentReading, currentWriting, type Reading, type Writing } from './reading';
import { watchedClient } from './watched-client';

interface ReadOptions {
  /** postgres://user:password@host:port/database */
  readonly url: string;
  readonly connections: number;
  /** Milliseconds after which a statement of a read ends. */
  readonly timeout: number;
}

/** Largest number of requests of one owner that wait for a connection. */
const WAITING = 200;
const TOO_MANY = {
  reads: 'Too many reads of one workspace wait for the database.',
  writes: 'Too many writes of one workspace wait for the database.',
};
const CONNECT_MS = 5_000;
/** Time limit of a cancel request (ms). Without it, the timeout of the server ends the statement. */
const CANCEL_MS = 5_000;
const CANCEL_REQUEST = 80_877_102;

type Connected = (error: Error | undefined, client?: PoolClient, release?: PoolClient['release']) => void;

interface Inside {
  readonly processID: number;
  readonly secretKey: number;
  readonly connection: { readonly stream: Socket };
  readonly host: string;
  readonly port: number;
  readonly _activeQuery: unknown;
}

/**
 * The pool for code that runs in requests: what only reads has connections of its own, on which statements end after
 * `timeout`, everything else those of `main`. One workspace's reads take at most half of these connections; at most 200
 * of them wait for one, a further one is answered with 429. The same holds for the writes of a workspace and the connections
 * of `main`, where a write that has a connection gets further ones at once: it could wait for what it holds itself. When the client of a read goes away, its statement is
 * cancelled on the server, and what it asks for afterwards is refused. `close` ends the connections for reads.
 */
export function openRequestPool(
  main: Pool,
  { url, connections: total, timeout }: ReadOptions,
): { pool: Pool; close: () => Promise<void> } {
  const reads = new Pool({
    connectionString: url,
    max: total,
    Client: watchedClient(),
    connectionTimeoutMillis: CONNECT_MS,
    application_name: `${PROCESS_NAME} reads`,
    keepAlive: true,
    statement_timeout: timeout,
  });
  // A connection that is lost while nobody uses it is replaced by the next one.
  reads.on('error', () => undefined);
  const shares = halfForEach(total);
  const writes = halfForEach(main.options.max);
  const connect = (done?: Connected) => {
    const [read, write] = [currentReading(), currentWriting()];
    if (!read && !write) return done ? main.connect(done as never) : main.connect();
    const connected = read ? connectFor(read, reads, shares) : connectToWrite(write!, main, writes);
    if (!done) return connected;
    // The library passes what is thrown in there on to nobody.
    connected.then(
      (client) => done(undefined, client, client.release.bind(client)),
      (error: Error) => done(error),
    );
    return undefined;
  };
  const pool = Object.create(main, {
    connect: { value: connect },
    totalCount: { get: () => main.totalCount + reads.totalCount },
    idleCount: { get: () => main.idleCount + reads.idleCount },
    waitingCount: { get: () => main.waitingCount + shares.waiting + writes.waiting },
  }) as Pool;
  return { pool, close: () => reads.end() };
}

function halfForEach(total: number): FairShare {
  const perOwner = Math.max(1, Math.floor(total / 2));
  return new FairShare(total, { perOwner, waiting: WAITING, waitingTogether: Infinity });
}

function refusing(message: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof NoPlace ? new TooManyRequests(1, message) : error;
  };
}

async function connectFor({ owner, signal }: Reading, reads: Pool, shares: FairShare): Promise<PoolClient> {
  const giveBack = await shares.wait(owner, { signal }).catch(refusing(TOO_MANY.reads));
  let client: PoolClient;
  try {
    client = await reads.connect();
  } catch (error) {
    giveBack();
    throw error;
  }
  const inside = client as unknown as Inside;
  const release = client.release.bind(client);
  let cancelled = false;
  const cancel = () => {
    cancelled = true;
    if (inside._activeQuery) cancelStatement(inside);
  };
  client.release = (broken) => {
    signal.removeEventListener('abort', cancel);
    giveBack();
    // A cancel request that comes late must not meet the next statement on this connection.
    release(cancelled || broken);
  };
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) {
    client.release();
    throw signal.reason as Error;
  }
  return client;
}

async function connectToWrite(request: Writing, main: Pool, writes: FairShare): Promise<PoolClient> {
  request.connections += 1;
  const place = (request.place ??= writes
    .wait(request.owner, { hasBegun: request.hasBegun })
    .catch(refusing(TOO_MANY.writes)));
  let left = false;
  const leave = () => {
    if (left) return;
    left = true;
    request.connections -= 1;
    if (request.connections > 0) return;
    request.place = undefined;
    // Nothing is to be given back when there was no place.
    place.then(
      (giveBack) => giveBack(),
      () => undefined,
    );
  };
  let client: PoolClient;
  try {
    await place;
    request.hasBegun = true;
    client = await main.connect();
  } catch (error) {
    leave();
    throw error;
  }
  const release = client.release.bind(client);
  client.release = (broken) => {
    leave();
    release(broken);
  };
  return client;
}

/** Sends the server a cancel request, which goes over a connection of its own and is not answered. */
function cancelStatement({ host, port, processID, secretKey, connection }: Inside): void {
  const message = Buffer.alloc(16);
  message.writeInt32BE(16, 0);
  message.writeInt32BE(CANCEL_REQUEST, 4);
  message.writeInt32BE(processID, 8);
  message.writeInt32BE(secretKey, 12);
  const socket = host.startsWith('/')
    ? connectTo(`${host}/.s.PGSQL.${port}`)
    : connectTo(port, connection.stream.remoteAddress ?? host);
  socket.setTimeout(CANCEL_MS, () => socket.destroy());
  socket.on('error', () => socket.destroy());
  socket.end(message);
  socket.resume();
}
