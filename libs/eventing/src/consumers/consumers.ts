import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Pool } from 'pg';
import { ConsumerInbox } from './consumer-inbox';
import type { Recorded } from '../core/event';
import { EventStore } from '../core/event-store';
import { type Consumer, type EventHandler, ParkedRetries } from './parked-retries';
import { ParkedSubjects } from './parked-subjects';
import { PATIENCE, reasonOf } from '../followers/retries';

/**
 * The consumers of this process. Events are given to a consumer once each and in order per stream, whichever transport
 * brings them and however often it does. A stream at whose event the consumer fails is parked: it and the events behind
 * it are tried again by themselves, and after the last attempt when somebody asks for it; no other stream waits for it.
 */
@Injectable()
export class Consumers implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Consumers');
  private readonly consumers = new Map<string, Consumer>();
  private readonly inbox: ConsumerInbox;
  private readonly retries: ParkedRetries;
  private start: () => void = () => undefined;
  /** Resolves when the application has started: before that no handler is to be called. */
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

  /** Makes a consumer of one type of events known under a name that no other has; replicas share it. */
  register(name: string, type: string, handle: EventHandler): void {
    if (this.consumers.has(name)) throw new Error(`Two consumers are named ${name}.`);
    this.consumers.set(name, { type, handle });
  }

  onApplicationBootstrap(): void {
    this.start();
    this.retries.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.retries.stop();
  }

  /**
   * Hands events, in the order of their streams, to the consumer of this name. True once each of them has been handled
   * or waits as parked, false when it ended early because `goesOn` said no. Rejects when the database is away. Those that
   * were not handled are to be delivered again.
   */
  async deliver(name: string, events: readonly Recorded[], goesOn = () => true): Promise<boolean> {
    const { done, waiting } = await this.inbox.standing(name, [...new Set(events.map(({ stream }) => stream))]);
    const behind = new Map<string, number>();
    for (const event of events) {
      const { stream, version } = event;
      if (!goesOn()) return false;
      if (version <= (done.get(stream) ?? 0)) continue;
      if (waiting.has(stream)) behind.set(stream, version);
      else if (await this.handle(name, event)) done.set(stream, version);
      else waiting.add(stream);
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
    await this.inbox.note(name, event);
    return true;
  }
}
