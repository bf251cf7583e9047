import { nested } from '@fairlead/postgres';
import type { Pool, PoolClient, QueryResult } from 'pg';
import type { Recorded } from '../core/event';
import type { Batch, EventStore, Filter } from '../core/event-store';
import { Away } from '../core/faults';
import type { BatchHandler } from './projection';
import { wakeups } from './metrics';
import type { SetAside } from './set-aside';
import { Wakeups } from './wakeups';

interface FollowOptions extends Filter {
  readonly passed?: (position: bigint) => void;
  /** Pause after each batch that was not full, so that the next one is larger (ms). */
  readonly gatherMs?: number;
  /** Woken by requests that wait for the next batch: it ends the pause. */
  readonly hurry?: Wakeups;
  /** True: the handler's queries may be sent before the checkpoint was confirmed; none of them is a COPY. */
  readonly pipelined?: boolean;
  /**
   * Number of connections that the handler holds while it waits for one more, the one of the batch included; absent:
   * none.
   */
  readonly holds?: number;
  /** Sets aside streams whose events cannot be applied. Without it, the follower stops at such an event. */
  readonly aside?: SetAside;
}

/** Number of events for other followers after which the checkpoint is moved over them; a restart reads them again. */
const IDLE_EVENTS = 10_000n;
/**
 * Pause after events for other followers, and between batches of a consumer (ms): each commit of a busy log would
 * otherwise cost statements of its own. A request that waits for the follower ends it.
 */
export const PAUSE_MS = 20;
/** After a batch of this many events, there is no pause, because the next one is waiting. */
const FULL_EVENTS = 1000n;

/**
 * Follows the log until `signal` aborts, and handles every event once, in order. `name` is that of the checkpoint. Each
 * batch is one transaction: it locks the checkpoint row, drops events that another replica has handled, handles the
 * others and moves the checkpoint, so that a crash rolls back effects and checkpoint together. Rejects when the store,
 * the database or the handler fails, unless one event is the cause and can be set aside. Called again, it goes on from
 * the checkpoint.
 */
export async function follow(
  name: string,
  store: EventStore,
  pool: Pool,
  signal: AbortSignal,
  handle: BatchHandler,
  options: FollowOptions = {},
): Promise<void> {
  const { hurry = new Wakeups(), holds } = options;
  const placed: typeof handleBatch = (...batch) =>
    holds === undefined ? handleBatch(...batch) : nested(pool, holds, () => handleBatch(...batch));
  let position = await checkpoint(pool, name);
  options.passed?.(position);
  let seen = position;
  const passes = (end: bigint) => {
    if (end - position >= IDLE_EVENTS * store.stride) return false;
    options.passed?.(end);
    return true;
  };
  const { categories, types } = options;
  for await (const batch of store.subscribe(position, signal, { categories, types, passes })) {
    wakeups.inc();
    const { count } = hurry;
    const isFull = batch.position - seen >= FULL_EVENTS * store.stride;
    seen = batch.position;
    if (batch.events.length === 0 && passes(batch.position)) {
      if (!isFull) await hurry.next(signal, PAUSE_MS, count);
      continue;
    }
    const from = position;
    try {
      // Another replica may have handled a part of the batch before.
      const mine = options.pipelined && batch.events.every((event) => event.position > position);
      const ahead = mine ? await handleAhead(name, pool, position, batch, handle) : undefined;
      position = ahead ?? (await placed(name, pool, position, batch, handle, options.aside));
    } catch (error) {
      const { aside } = options;
      if (!aside?.mayBlame(error)) throw error;
      position = await placed(name, pool, from, batch, (news, tx) => aside.handle(news, tx, handle), aside);
    }
    options.aside?.worked();
    options.passed?.(position);
    if (options.gatherMs && !isFull) await hurry.next(signal, options.gatherMs, count);
  }
}

/** Returns the position up to which the follower has handled the log. Its row is made when it does not exist. */
export async function checkpoint(pool: Pool, name: string): Promise<bigint> {
  const { rows } = await pool.query<{ position: string }>(
    `insert into checkpoints (name, "position") values ($1, 0)
     on conflict (name) do update set name = excluded.name returning "position"`,
    [name],
  );
  return BigInt(rows[0]!.position);
}

/**
 * As {@link handleBatch}, with one round trip less: the checkpoint is moved only from the expected position, and the
 * batch is handled at the same time. Returns undefined, with nothing changed, when the checkpoint was elsewhere or
 * streams are set aside.
 */
async function handleAhead(
  name: string,
  pool: Pool,
  from: bigint,
  { events, position }: Batch,
  handle: BatchHandler,
): Promise<bigint | undefined> {
  return inTransaction(pool, async (client) => {
    client.pipeline = true;
    const moving = client.query(
      `begin; set local synchronous_commit = off;
       update checkpoints set ${movedTo(client, position, events.at(-1))}
       where name = ${client.escapeLiteral(name)} and "position" = ${from}
         and not exists (select from parked_subjects where consumer = ${client.escapeLiteral(name)})`,
    ) as unknown as Promise<QueryResult[]>;
    const [moved, handled] = await Promise.allSettled([moving, handle(events, client)]);
    if (moved.status === 'rejected') throw moved.reason;
    const theirs = moved.value[2]?.rowCount === 0;
    if (!theirs && handled.status === 'rejected') throw handled.reason;
    const { command } = await client.query(theirs ? 'rollback' : 'commit');
    // PostgreSQL answers so, without an error, when a statement failed whose error the handler kept to itself.
    if (!theirs && command !== 'COMMIT') throw new Error('A statement of the batch failed.');
    return theirs ? undefined : position;
  });
}

/**
 * Handles a batch. The commit does not wait for the disk: a crash of the server loses rows and checkpoint together, and
 * the log, whose commits do wait, restores them. `from`: the expected checkpoint. If the checkpoint is further back, it
 * was lost, and the events between are missing in the batch. Each round trip carries as much as possible.
 */
async function handleBatch(
  name: string,
  pool: Pool,
  from: bigint,
  { events, position }: Batch,
  handle: BatchHandler,
  aside?: SetAside,
): Promise<bigint> {
  return inTransaction(pool, async (client) => {
    const follower = client.escapeLiteral(name);
    const begun = (await client.query(
      `begin; set local synchronous_commit = off;
       select "position" from checkpoints where name = ${follower} for update;
       select exists (select from parked_subjects where consumer = ${follower}) as some`,
    )) as unknown as [unknown, unknown, QueryResult<{ position: string }>, QueryResult<{ some: boolean }>];
    const reached = BigInt(begun[2].rows[0]?.position ?? 0);
    if (reached < from) throw new Away(`A crash of the server took the checkpoint back from ${from} to ${reached}.`);
    let news = events.filter((event) => event.position > reached);
    if (aside && begun[3].rows[0]?.some) news = await aside.waiting.withoutWaiting(news, client);
    if (news.length > 0) await handle(news, client);
    const end = position > reached ? position : reached;
    const last = events.findLast((event) => event.position > reached);
    await client.query(`update checkpoints set ${movedTo(client, end, last)} where name = ${follower}; commit`);
    return end;
  });
}

/** Sets the columns of a checkpoint; its event stays when no new one is given. */
function movedTo(client: PoolClient, position: bigint, event: Recorded | undefined): string {
  const moved = `"position" = ${position}`;
  if (!event) return moved;
  const { id, stream } = event;
  return `${moved}, event_id = ${client.escapeLiteral(id)}, event_position = ${event.position}, event_stream = ${client.escapeLiteral(stream)}`;
}

async function inTransaction<T>(
  pool: Pool,
  work: (client: PoolClient & { pipeline?: boolean }) => Promise<T>,
): Promise<T> {
  const client: PoolClient & { pipeline?: boolean } = await pool.connect();
  let broken: Error | undefined;
  try {
    return await work(client);
  } catch (error) {
    await client.query('rollback').catch((lost: Error) => (broken = lost));
    throw error;
  } finally {
    client.pipeline = false;
    client.release(broken);
  }
}
