import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Pool } from 'pg';
import { ConsumerInbox } from './consumer-inbox';
import type { Recorded } from '../core/event';
import { EventStore } from '../core/event-store';
import { type Consumer, type EventHandler, ParkedRetries } from './parked-retries';
import { ParkedSubjects } from '../followers/parked-subjects';
import { PATIENCE, reasonOf } from '../followers/retries';
import { endOf } from '../followers/stop';

/**
 * Time after which handled events are recorded as handled, once the handler that runs then has ended (ms). One statement
 * for many events costs less; what was not recorded before a crash is delivered again.
 */
const NOTE_MS = 50;

/**
 * Runs the consumers of this process. A consumer gets each event once, in order per stream, whichever transport
 * delivers it and however often; after a crash, it may get its last events again. When it fails at an event, the stream
 * is parked: this event and the later ones are retried automatically a number of times, and then on request. No other
 * stream waits.
 */
@Injectable()
export class Consumers implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Consumers');
  private readonly consumers = new Map<string, Consumer>();
  private readonly inbox: ConsumerInbox;
  private readonly retries: ParkedRetries;
  private start: () => void = () => undefined;
  /** Resolves when the application has started. No handler is called before. */
  readonly started = new Promise<void>((started) => (this.start = started));

  constructor(
    store: EventStore,
    pool: Pool,
    private readonly parked: ParkedSubjects,
    private readonly patience = PATIENCE,
  ) {
    this.inbox = new ConsumerInbox(pool);
    this.retries = new ParkedRetries(store, pool, parked, this.inbox, patience, this.consumers);
  }

  /** Registers a consumer of one type of events under a unique name, which its replicas share. */
  register(name: string, type: string, handle: EventHandler): void {
    if (this.consumers.has(name)) throw new Error(`Two consumers are named ${name}.`);
    this.consumers.set(name, { type, handle });
  }

  onApplicationBootstrap(): void {
    this.start();
    this.retries.start();
  }

  onApplicationShutdown(): Promise<void> {
    return endOf(this.retries.stop(), this.logger, () => 'A retry of a consumer');
  }

  /**
   * Delivers events, in the order of their streams, to the consumer with this name. Resolves to true once each was
   * handled or is parked; to false when `goesOn` returned false. Rejects when the database is unavailable. Events that
   * were not handled must be delivered again.
   */
  async deliver(name: string, events: readonly Recorded[], goesOn = () => true): Promise<boolean> {
    const { done, waiting } = await this.inbox.standing(name, [...new Set(events.map(({ stream }) => stream))]);
    const behind = new Map<string, number>();
    const handled = new Map<string, number>();
    let noted = performance.now();
    try {
      for (const event of events) {
        const { stream, version } = event;
        if (!goesOn()) return false;
        if (version <= (done.get(stream) ?? 0)) continue;
        if (waiting.has(stream)) behind.set(stream, version);
        else if (await this.handle(name, event)) {
          done.set(stream, version);
          handled.set(stream, version);
        } else waiting.add(stream);
        if (handled.size === 0 || performance.now() - noted < NOTE_MS) continue;
        await this.inbox.note(name, handled);
        handled.clear();
        noted = performance.now();
      }
    } finally {
      if (handled.size > 0) await this.inbox.note(name, handled);
    }
    for (const [stream, version] of behind) {
      if (await this.parked.queue(name, stream, version)) continue;
      // It has got on meanwhile.
      const ofStream = events.filter((event) => event.stream === stream);
      if (!(await this.deliver(name, ofStream, goesOn))) return false;
    }
    return true;
  }

  private async handle(name: string, event: Recorded): Promise<boolean> {
    try {
      await this.consumers.get(name)!.handle(event);
    } catch (error) {
      const reason = reasonOf(error);
      await this.parked.park(name, event, reason, this.patience.firstMs);
      this.logger.warn(`${name} failed at ${event.stream} version ${event.version}: ${reason}`);
      this.retries.wake();
      return false;
    }
    return true;
  }
}
