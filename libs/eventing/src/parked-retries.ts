import { Logger } from '@nestjs/common';
import type { Pool } from 'pg';
import type { ConsumerInbox } from './consumer-inbox';
import type { Recorded } from './event';
import type { EventStore } from './event-store';
import type { ParkedSubject, ParkedSubjects } from './parked-subjects';
import { Wakeups } from './wakeups';

/** What a consumer does with an event. */
export type EventHandler = (event: Recorded) => Promise<void>;

export interface Consumer {
  /** The type of event that it is for. */
  readonly type: string;
  readonly handle: EventHandler;
}

/** How often an event is tried and how long the pauses between are: each three times the one before. */
export interface Patience {
  readonly attempts: number;
  readonly firstMs: number;
  readonly mostMs: number;
}

/** About five minutes. */
export const PATIENCE: Patience = { attempts: 10, firstMs: 100, mostMs: 60_000 };

/** Milliseconds before the next attempt after so many, null when there is none. */
export function pauseAfter(attempts: number, { attempts: most, firstMs, mostMs }: Patience): number | null {
  return attempts < most ? Math.min(firstMs * 3 ** (attempts - 1), mostMs) : null;
}

const POLL_MS = 1000;
const DUE = 100;

/** Tries parked subjects again when they are due, each in one process at a time. */
export class ParkedRetries {
  private readonly logger = new Logger('Consumers');
  private readonly stopping = new AbortController();
  private readonly wakeups = new Wakeups();
  private ended: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: EventStore,
    private readonly pool: Pool,
    private readonly parked: ParkedSubjects,
    private readonly inbox: ConsumerInbox,
    private readonly patience: Patience,
    private readonly consumers: ReadonlyMap<string, Consumer>,
  ) {}

  start(): void {
    this.ended = this.retryUntilStopped();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.ended;
  }

  /** Says that something has been parked. */
  wake(): void {
    this.wakeups.wake();
  }

  private async retryUntilStopped(): Promise<void> {
    const { signal } = this.stopping;
    const { firstMs } = this.patience;
    while (!signal.aborted) {
      const { count } = this.wakeups;
      let found = 0;
      try {
        const due = await this.parked.due([...this.consumers.keys()], DUE);
        found = due.length;
        for (const subject of due) if (!signal.aborted) await this.retry(subject);
      } catch (error) {
        this.logger.warn(`Parked subjects cannot be tried again: ${reasonOf(error)}`);
      }
      await this.wakeups.next(signal, found > 0 ? firstMs : POLL_MS, count);
      // What has just been parked is due after the first pause.
      if (this.wakeups.count !== count) await new Wakeups().next(signal, firstMs);
    }
  }

  /** One attempt, unless another process is at it; a crash of this one lets go of the lock. */
  private async retry(parked: ParkedSubject): Promise<void> {
    const client = await this.pool.connect();
    let broken: Error | undefined;
    try {
      await client.query('begin');
      const { rows } = await client.query<{ mine: boolean }>(
        'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as mine',
        [parked.id],
      );
      const current = rows[0]!.mine ? await this.parked.find(parked.id) : undefined;
      // Another process may have tried it since it was found to be due.
      if (current?.attempts === parked.attempts && current.version === parked.version) await this.attempt(current);
    } finally {
      await client.query('rollback').catch((lost: Error) => (broken = lost));
      client.release(broken);
    }
  }

  private async attempt(parked: ParkedSubject): Promise<void> {
    const { id, consumer, subject } = parked;
    let attempts = await this.parked.begin(id);
    if (attempts > this.patience.attempts) {
      await this.failed(parked, parked.event_type, parked.version, attempts, parked.reason);
      return;
    }
    const { done } = await this.inbox.standing(consumer, [subject]);
    let handled = Math.max(parked.version - 1, done.get(subject) ?? 0);
    let last: number | undefined = parked.last_version;
    while (last !== undefined) {
      for (const event of await this.waiting(parked, handled, last)) {
        try {
          await this.consumers.get(consumer)!.handle(event);
        } catch (error) {
          await this.failed(parked, event.type, event.version, attempts, reasonOf(error));
          return;
        }
        await this.inbox.note(consumer, event);
        attempts = 1;
      }
      handled = Math.max(handled, last);
      last = await this.parked.release(id, handled);
    }
    this.logger.log(`${consumer} goes on with ${subject}`);
  }

  /** Events of the subject for its consumer with versions after `handled`, up to `last`. */
  private async waiting({ consumer, subject }: ParkedSubject, handled: number, last: number): Promise<Recorded[]> {
    const { type } = this.consumers.get(consumer)!;
    const events = await this.store.read(subject, handled);
    return events.filter((event) => event.type === type && event.version <= last);
  }

  private async failed(
    { id, consumer, subject }: ParkedSubject,
    type: string,
    version: number,
    attempts: number,
    reason: string,
  ): Promise<void> {
    const pause = pauseAfter(attempts, this.patience);
    await this.parked.failed(id, { type, version }, attempts, reason, pause);
    if (pause !== null) return;
    this.logger.error(`${consumer} gave up at ${subject} version ${version} after ${attempts} attempts: ${reason}`);
  }
}

export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  // It is logged and stored, and a NUL is at home in neither.
  return text.replaceAll('\0', '\ufffd');
}
