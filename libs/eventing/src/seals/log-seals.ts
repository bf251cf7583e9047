import { hash as hashOf } from 'node:crypto';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import type { DomainEvent, Recorded } from '../core/event';
import type { EventStore } from '../core/event-store';
import type { Projection } from '../followers/followers';
import { handle } from '../core/handle';
import { hashLog, headText, type LogHash, NOTHING } from './log-hash';
import type { LogSigner, Signature } from './log-signer';
import type { Model } from '../core/model';

/** The whole log up to a position, signed; `day` (UTC) is the day of its last event. */
export interface LogSeal extends LogHash, Signature {
  readonly day: string;
  /** 1 for the first seal. Seals of earlier versions have neither this nor `previous`. */
  readonly number?: number;
  /** `sealHash` of the seal before it, empty for the first one. */
  readonly previous?: string;
}

/** When seals are made, besides at the end of each day (UTC). */
export interface SealSchedule {
  /** Events. */
  readonly everyEvents: number;
  /** Milliseconds from the first event that is not sealed. */
  readonly everyMs: number;
}

type LogSealed = DomainEvent<'LogSealed', LogSeal>;

/** How many seals there are, and the newest. */
interface Sealed {
  readonly number: number;
  readonly last?: LogSeal;
}

interface Reached extends LogHash {
  readonly day: string;
  /** Events since the newest seal that are not seals themselves. */
  readonly unsealed: number;
  /** Time of the first of them. */
  readonly unsealed_since: string | null;
}

export const SEALS = 'logSeals-1';
export const SEAL_SCHEDULE: SealSchedule = { everyEvents: 10_000, everyMs: 60 * 60 * 1000 };
const seals: Model<Sealed, LogSealed> = {
  initial: { number: 0 },
  evolve: ({ number }, { data }) => ({ number: number + 1, last: data }),
};
const COLUMNS = `"position", count::int as count, hash, day, unsealed, unsealed_since`;
const LONGEST_WAIT_MS = 60_000;

/** The text that a seal signs. */
export function sealText({ day, position, count, hash, number, previous }: Omit<LogSeal, keyof Signature>): string {
  if (number === undefined) return JSON.stringify(['fairlead log', day, position, count, hash]);
  return JSON.stringify(['fairlead seal', number, previous, day, position, count, hash]);
}

/** By what the next seal names a seal: SHA-256 of its text and signature, base64url. */
export function sealHash(seal: LogSeal): string {
  return hashOf('sha256', JSON.stringify([sealText(seal), seal.key_id, seal.signature]), 'base64url');
}

/**
 * Hashes the whole log as it grows and signs how far it has come, and seals it: after so many events, after so long, and
 * at the end of a day. Each seal names the one before it.
 */
@Injectable()
export class LogSeals implements Projection, OnApplicationBootstrap, OnApplicationShutdown {
  readonly name = 'log.seals';
  readonly gatherMs = 1000;
  /** A hash without an event would be another. */
  readonly setsAside = false;
  /** Its key or its seals may be lost in the server of the log: nobody's request needs them. */
  readonly optional = true;
  private readonly logger = new Logger('LogSeals');
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly store: EventStore,
    private readonly pool: Pool,
    private readonly signer: LogSigner,
    private readonly schedule: SealSchedule = SEAL_SCHEDULE,
  ) {}

  onApplicationBootstrap(): void {
    const pause = Math.min(this.schedule.everyMs / 4, LONGEST_WAIT_MS);
    this.timer = setInterval(() => {
      this.sealDue().catch((error: Error) => this.logger.error(`the log is not sealed: ${error.message}`));
    }, pause).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  readonly handle = async (events: Recorded[], tx: PoolClient): Promise<void> => {
    const { rows } = await tx.query<Reached>(`select ${COLUMNS} from log_hashes for update`);
    let reached: LogHash = rows[0] ?? NOTHING;
    let day = rows[0]?.day ?? null;
    let unsealed = rows[0]?.unsealed ?? 0;
    let since = rows[0]?.unsealed_since ?? null;
    const finished: (LogHash & { day: string })[] = [];
    const finish = (on: string) => {
      finished.push({ ...reached, day: on });
      unsealed = 0;
      since = null;
    };
    for (const event of events) {
      const today = event.time.slice(0, 10);
      if (day !== null && day < today) finish(day);
      day = today;
      reached = hashLog([event], reached);
      if (event.stream === SEALS) continue;
      unsealed += 1;
      since ??= event.time;
      if (unsealed >= this.schedule.everyEvents) finish(day);
    }
    const { key_id, signature } = await this.signer.sign(headText(reached));
    await tx.query(
      `insert into log_hashes (id, "position", count, hash, day, unsealed, unsealed_since, key_id, signature)
       values (1, $1, $2, $3, $4, $5, $6, $7, $8)
       on conflict (id) do update
       set "position" = excluded."position", count = excluded.count, hash = excluded.hash, day = excluded.day,
         unsealed = excluded.unsealed, unsealed_since = excluded.unsealed_since,
         key_id = excluded.key_id, signature = excluded.signature`,
      [reached.position, reached.count, reached.hash, day, unsealed, since, key_id, signature],
    );
    // Sealing again after a crash or beside another replica changes nothing, so it needs no part in the transaction.
    for (const one of finished) await this.seal(one);
  };

  /** Seals the log as far as it has been hashed, today's events included. */
  async sealNow(): Promise<LogSeal | undefined> {
    const { rows } = await this.pool.query<Reached>(`select ${COLUMNS} from log_hashes`);
    if (!rows[0]) return undefined;
    const seal = await this.seal(rows[0]);
    await this.pool.query(
      `update log_hashes set unsealed = count - $1::bigint, unsealed_since = case when count > $1::bigint then now() end
       where count >= $1::bigint`,
      [rows[0].count],
    );
    return seal;
  }

  /** Seals the log when its first event that is not sealed is older than the schedule lets it be. */
  async sealDue(now = Date.now()): Promise<LogSeal | undefined> {
    const { rows } = await this.pool.query<Reached>(`select ${COLUMNS} from log_hashes where unsealed > 0`);
    const since = rows[0]?.unsealed_since ?? null;
    if (since === null || now - new Date(since).getTime() < this.schedule.everyMs) return undefined;
    return this.sealNow();
  }

  /** All seals, oldest first. */
  async all(): Promise<readonly LogSeal[]> {
    return ((await this.store.read(SEALS)) as Recorded<LogSealed>[]).map(({ data }) => data);
  }

  private async seal({ day, position, count, hash }: LogHash & { day: string }): Promise<LogSeal> {
    const sign = await this.signer.key();
    const decide = ({ number, last }: Sealed): LogSealed[] => {
      // Seals only ever go forward, also when the log is hashed again from its first event on.
      if (last && last.count >= count) return [];
      const previous = last ? sealHash(last) : '';
      const unsigned = { number: number + 1, previous, day, position: String(position), count, hash };
      return [{ type: 'LogSealed', data: { ...unsigned, ...sign(sealText(unsigned)) } }];
    };
    const { state, events } = await handle(this.store, seals, SEALS, decide, { actor: 'system:audit' });
    if (events.length > 0) this.logger.log(`sealed the log: ${count} events up to position ${position} (${day})`);
    return state.last!;
  }
}
