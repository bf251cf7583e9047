import { hash as hashOf } from 'node:crypto';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import { categoryOf, type DomainEvent, type Metadata, type Recorded, streamName } from '../core/event';
import { type EventStore, StreamDeleted } from '../core/event-store';
import type { Projection } from '../followers/projection';
import { transaction } from '@fairlead/postgres';
import { handle } from '../core/handle';
import { hashLog, headText, type LogHash, NOTHING } from './log-hash';
import type { LogSigner, Signature } from './log-signer';
import type { Model } from '../core/model';
import { grown, leafOf, rootOf, type SealTree } from './seal-tree';
import { PeriodicWork } from '@fairlead/schema';

/** A signed hash of the whole log up to a position. `day` (UTC) is the day of its last event. */
export interface LogSeal extends LogHash, Signature {
  readonly day: string;
  /** 1 for the first seal. Seals of earlier versions have neither this nor `previous`. */
  readonly number?: number;
  /** `sealHash` of the seal before it, empty for the first one. */
  readonly previous?: string;
  /**
   * Root of the tree over the events after number `from` up to `count`, so that one event can be shown to be among them.
   * Seals of earlier versions have neither.
   */
  readonly root?: string;
  readonly from?: number;
  /** The streams that held the seals before and were deleted in the event store. */
  readonly replaces?: readonly string[];
}

/** When seals are made, besides at the end of each day (UTC). */
export interface SealSchedule {
  readonly everyEvents: number;
  /** Milliseconds from the first event that is not sealed. */
  readonly everyMs: number;
}

type LogSealed = DomainEvent<'LogSealed', LogSeal>;

interface Sealed {
  readonly number: number;
  readonly last?: LogSeal;
}

interface Reached extends LogHash {
  readonly day: string;
  readonly tree_from: number | null;
  readonly tree_peaks: readonly string[] | null;
  /** Events since the newest seal that are not seals themselves. */
  readonly unsealed: number;
  readonly unsealed_since: string | null;
}

const CATEGORY = 'logSeals';
export const SEAL_SCHEDULE: SealSchedule = { everyEvents: 10_000, everyMs: 60 * 60 * 1000 };
const seals: Model<Sealed, LogSealed> = {
  initial: { number: 0 },
  evolve: ({ number }, { data }) => ({ number: number + 1, last: data }),
};
const COLUMNS =
  '"position", count::int as count, hash, day, unsealed, unsealed_since, tree_from::int as tree_from, tree_peaks';
const LONGEST_WAIT_MS = 60_000;

/** The stream of the seals was deleted, and the operator has not begun a new series yet. */
class SealsLost extends StreamDeleted {
  constructor(stream: string) {
    super(stream);
    this.message +=
      ' It held the seals of the log, so that nothing is sealed now. Find out who deleted it; then ' +
      '`npm run audit -- --replace-seals "<why>"` begins a new series of seals and records that (docs/guides/audit.md).';
  }
}

export function isOfSeals(stream: string): boolean {
  return categoryOf(stream) === CATEGORY;
}

/** State of hashing for a seal: the place in the log, and the tree over the events since the last seal. */
interface Sealable extends LogHash {
  readonly day: string;
  readonly tree: SealTree;
}

interface Series {
  /** The stream of the present series of seals; the next seal is appended to it. */
  readonly stream: string;
  readonly seals: readonly LogSeal[];
  /** Earlier streams of the same kind, which were deleted in the event store. */
  readonly lost: readonly string[];
}

/**
 * Returns the existing seals, oldest first. They are in `logSeals-1`; when that stream was deleted in the event store,
 * in `logSeals-2`, and so on.
 */
export async function readSeals(store: EventStore): Promise<Series> {
  const lost: string[] = [];
  for (;;) {
    const stream = streamName(CATEGORY, String(lost.length + 1));
    try {
      const events = (await store.read(stream)) as Recorded<LogSealed>[];
      return { stream, seals: events.map(({ data }) => data), lost };
    } catch (error) {
      if (!(error instanceof StreamDeleted)) throw error;
      lost.push(stream);
    }
  }
}

export function sealText(seal: Omit<LogSeal, keyof Signature>): string {
  const { day, position, count, hash, number, previous, from, root } = seal;
  if (number === undefined) return JSON.stringify(['fairlead log', day, position, count, hash]);
  const tree = root === undefined ? [] : [from, root];
  return JSON.stringify(['fairlead seal', number, previous, day, position, count, hash, ...tree]);
}

/** Returns the hash by which the next seal names this one: SHA-256 of its text and signature, base64url. */
export function sealHash(seal: LogSeal): string {
  return hashOf('sha256', JSON.stringify([sealText(seal), seal.key_id, seal.signature]), 'base64url');
}

/**
 * Hashes the log as it grows, and signs each new hash. It makes a seal after a number of events, after a time, and at
 * the end of each day. Each seal names the one before it.
 */
@Injectable()
export class LogSeals implements Projection, OnApplicationBootstrap, OnApplicationShutdown {
  readonly name = 'log.seals';
  readonly gatherMs = 1000;
  readonly holds = 1;
  /** Events are never set aside: the hash must include each of them. */
  readonly setsAside = false;
  /** The process is ready without it, because no request needs seals. */
  readonly optional = true;
  private readonly logger = new Logger('LogSeals');
  private readonly sealing = new PeriodicWork(
    () => this.sealDue().then(() => (this.told = undefined)),
    (error) => this.notSealed(error as Error),
  );
  private told: string | undefined;

  constructor(
    private readonly store: EventStore,
    private readonly pool: Pool,
    private readonly signer: LogSigner,
    private readonly schedule: SealSchedule = SEAL_SCHEDULE,
  ) {}

  onApplicationBootstrap(): void {
    this.sealing.start(Math.min(this.schedule.everyMs / 4, LONGEST_WAIT_MS));
  }

  onApplicationShutdown(): Promise<void> {
    return this.sealing.stop();
  }

  private notSealed({ message }: Error): void {
    if (this.told !== message) this.logger.error(`the log is not sealed: ${message}`);
    this.told = message;
  }

  readonly handle = async (events: Recorded[], tx: PoolClient): Promise<void> => {
    const { rows } = await tx.query<Reached>(`select ${COLUMNS} from log_hashes for update`);
    let reached: LogHash = rows[0] ?? NOTHING;
    let day = rows[0]?.day ?? null;
    let unsealed = rows[0]?.unsealed ?? 0;
    let since = rows[0]?.unsealed_since ?? null;
    let tree = treeOf(rows[0]);
    const finished: Sealable[] = [];
    const finish = (on: string) => {
      finished.push({ ...reached, day: on, tree });
      unsealed = 0;
      since = null;
      tree = { from: reached.count, peaks: [] };
    };
    for (const event of events) {
      const today = event.time.slice(0, 10);
      if (day !== null && day < today) finish(day);
      day = today;
      tree = grown(tree, reached.count, leafOf(event));
      reached = hashLog([event], reached);
      if (isOfSeals(event.stream)) continue;
      unsealed += 1;
      since ??= event.time;
      if (unsealed >= this.schedule.everyEvents) finish(day);
    }
    const { key_id, signature } = await this.signer.sign(headText(reached));
    await tx.query(
      `insert into log_hashes
         (id, "position", count, hash, day, unsealed, unsealed_since, key_id, signature, tree_from, tree_peaks)
       values (1, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
       on conflict (id) do update
       set "position" = excluded."position", count = excluded.count, hash = excluded.hash, day = excluded.day,
         unsealed = excluded.unsealed, unsealed_since = excluded.unsealed_since,
         key_id = excluded.key_id, signature = excluded.signature,
         tree_from = excluded.tree_from, tree_peaks = excluded.tree_peaks`,
      [reached.position, reached.count, reached.hash, day, unsealed, since, key_id, signature, tree.from, tree.peaks],
    );
    // Sealing again after a crash or beside another replica changes nothing, so it needs no part in the transaction. The
    // tree is then larger than it must be, because it begins before that seal.
    for (const one of finished) await this.seal(one);
  };

  /** Seals the log up to its newest hashed event, today's events included. */
  async sealNow(): Promise<LogSeal | undefined> {
    // No event is hashed meanwhile, because the next tree begins after this seal.
    return transaction(this.pool, async (tx) => {
      const { rows } = await tx.query<Reached>(`select ${COLUMNS} from log_hashes for update`);
      if (!rows[0]) return undefined;
      const seal = await this.seal({ ...rows[0], tree: treeOf(rows[0]) });
      await tx.query(`update log_hashes set unsealed = 0, unsealed_since = null, tree_from = count, tree_peaks = '{}'`);
      return seal;
    });
  }

  /** Seals the log when its first unsealed event is older than the schedule allows. */
  async sealDue(now = Date.now()): Promise<LogSeal | undefined> {
    const { rows } = await this.pool.query<Reached>(`select ${COLUMNS} from log_hashes where unsealed > 0`);
    const since = rows[0]?.unsealed_since ?? null;
    if (since === null || now - new Date(since).getTime() < this.schedule.everyMs) return undefined;
    return this.sealNow();
  }

  async all(): Promise<readonly LogSeal[]> {
    return (await readSeals(this.store)).seals;
  }

  /**
   * Begins a new series of seals when the stream of the present one was deleted. The first seal contains the names of
   * the deleted streams, and its event the reason.
   * @throws Error when nothing was deleted, or the log has not been hashed yet
   */
  async replaceLost(reason: string): Promise<LogSeal> {
    const { seals, lost } = await readSeals(this.store);
    if (seals.length > 0 || lost.length === 0) throw new Error('The seals are there: nothing is replaced.');
    const { rows } = await this.pool.query<Reached>(`select ${COLUMNS} from log_hashes`);
    if (!rows[0]) throw new Error('The service has not hashed the log yet: there is nothing to be sealed.');
    return this.append({ ...rows[0], tree: treeOf(rows[0]) }, lost, { actor: 'operator', reason });
  }

  /** @throws SealsLost so that nobody who deletes the seals can have them replaced unnoticed */
  private async seal(reached: Sealable): Promise<LogSeal> {
    const { seals, lost } = await readSeals(this.store);
    if (seals.length === 0 && lost.length > 0) throw new SealsLost(lost.at(-1)!);
    return this.append(reached, lost, { actor: 'system:audit' });
  }

  private async append(
    { day, position, count, hash, tree }: Sealable,
    lost: readonly string[],
    metadata: Metadata,
  ): Promise<LogSeal> {
    const sign = await this.signer.key();
    const decide = ({ number, last }: Sealed): LogSealed[] => {
      // Seals only ever go forward, also when the log is hashed again from its first event on.
      if (last && last.count >= count) return [];
      const previous = last ? sealHash(last) : '';
      const root = rootOf(tree);
      const leaves = root === undefined ? {} : { from: tree.from, root };
      const unsigned = { number: number + 1, previous, day, position: String(position), count, hash, ...leaves };
      const replaces = last || lost.length === 0 ? {} : { replaces: lost };
      return [{ type: 'LogSealed', data: { ...unsigned, ...replaces, ...sign(sealText(unsigned)) } }];
    };
    const stream = streamName(CATEGORY, String(lost.length + 1));
    const { state, events } = await handle(this.store, seals, stream, decide, metadata);
    if (events.length > 0) this.logger.log(`sealed the log: ${count} events up to position ${position} (${day})`);
    return state.last!;
  }
}

/** An earlier version stored no tree: it begins after what was hashed then. */
function treeOf(reached: Reached | undefined): SealTree {
  if (!reached) return { from: 0, peaks: [] };
  const { count, tree_from: from, tree_peaks: peaks } = reached;
  return from === null || peaks === null ? { from: count, peaks: [] } : { from, peaks };
}
