import { Injectable, Logger } from '@nestjs/common';
import { hash as hashOf } from 'node:crypto';
import { Pool, type PoolClient } from 'pg';
import { withoutSealed } from './chain';
import type { DomainEvent, Recorded } from './event';
import { EventStore } from './event-store';
import type { Projection } from './followers';
import { handle } from './handle';
import { LogSigner, type Signature } from './log-signer';
import type { Model } from './model';
import { storedShape } from './upcasters';

/** How far the log has been hashed: over its first `count` events, the last one at `position`. */
export interface LogHash {
  readonly position: string;
  readonly count: number;
  readonly hash: string;
}

/** The whole log up to a position, signed; `day` (UTC) is the day of its last event. */
export interface LogSeal extends LogHash, Signature {
  readonly day: string;
}

type LogSealed = DomainEvent<'LogSealed', LogSeal>;

export const SEALS = 'logSeals-1';
const seals: Model<readonly LogSeal[], LogSealed> = {
  initial: [],
  evolve: (state, event) => [...state, event.data],
};

/** The text that a seal signs. */
export function sealText({ day, position, count, hash }: Omit<LogSeal, keyof Signature>): string {
  return JSON.stringify(['fairlead log', day, position, count, hash]);
}

/**
 * The hash of the log after further events: SHA-256 over the hash before, the event's place (counted, so that it stays
 * when the log moves to another store) and everything it holds, base64url.
 */
export function hashLog(events: readonly Recorded[], from: LogHash): LogHash {
  return events.reduce((before, event) => {
    const { id, stream, version, position, type, data, metadata, time } = storedShape(event);
    const text = JSON.stringify([
      before.hash,
      String(before.count + 1),
      stream,
      version,
      id,
      type,
      data,
      metadata,
      time,
    ]);
    const hash = hashOf('sha256', withoutSealed(text), 'base64url');
    return { position: String(position), count: before.count + 1, hash };
  }, from);
}

/** The hash of an empty log. */
export const NOTHING: LogHash = { position: '0', count: 0, hash: '' };

/** Hashes the whole log as it grows and signs it once a day, when the first event of another day comes. */
@Injectable()
export class LogSeals implements Projection {
  readonly name = 'log.seals';
  readonly gatherMs = 1000;
  /** A hash without an event would be another. */
  readonly setsAside = false;
  private readonly logger = new Logger('LogSeals');

  constructor(
    private readonly store: EventStore,
    private readonly pool: Pool,
    private readonly signer: LogSigner,
  ) {}

  readonly handle = async (events: Recorded[], tx: PoolClient): Promise<void> => {
    const { rows } = await tx.query<LogHash & { day: string | null }>(
      `select "position", count::int as count, hash, day from log_hashes`,
    );
    let { day = null, ...reached }: LogHash & { day?: string | null } = rows[0] ?? NOTHING;
    const finished: (LogHash & { day: string })[] = [];
    for (const event of events) {
      const today = event.time.slice(0, 10);
      if (day !== null && day < today) finished.push({ ...reached, day });
      // Clocks of services differ: around midnight a day can come again, and is over all the same.
      if (day === null || day < today) day = today;
      reached = hashLog([event], reached);
    }
    await tx.query(
      `insert into log_hashes (id, "position", count, hash, day) values (1, $1, $2, $3, $4)
       on conflict (id) do update
       set "position" = excluded."position", count = excluded.count, hash = excluded.hash, day = excluded.day`,
      [reached.position, reached.count, reached.hash, day],
    );
    // Sealing again after a crash or beside another replica changes nothing, so it needs no part in the transaction.
    for (const one of finished) await this.seal(one);
  };

  /** Seals the log as far as it has been hashed, today's events included. */
  async sealNow(): Promise<LogSeal | undefined> {
    const { rows } = await this.pool.query<LogHash & { day: string }>(
      `select "position", count::int as count, hash, day from log_hashes`,
    );
    return rows[0] && this.seal(rows[0]);
  }

  /** All seals, oldest first. */
  async all(): Promise<readonly LogSeal[]> {
    return ((await this.store.read(SEALS)) as Recorded<LogSealed>[]).map(({ data }) => data);
  }

  private async seal(reached: LogHash & { day: string }): Promise<LogSeal> {
    const { day, position, count, hash } = reached;
    const unsigned = { day, position: String(position), count, hash };
    const seal = { ...unsigned, ...(await this.signer.sign(sealText(unsigned))) };
    const decide = (state: readonly LogSeal[]): LogSealed[] =>
      state.some((earlier) => earlier.position === seal.position) ? [] : [{ type: 'LogSealed', data: seal }];
    const { state } = await handle(this.store, seals, SEALS, decide, { actor: 'system:audit' });
    this.logger.log(`sealed the log of ${day}: ${count} events up to position ${seal.position}`);
    return state.find((sealed) => sealed.position === seal.position)!;
  }
}
