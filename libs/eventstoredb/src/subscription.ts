import {
  type AllStreamResolvedEvent,
  type AllStreamSubscription,
  eventTypeFilter,
  type Filter as ServerFilter,
  type Position,
  START,
  streamNameFilter,
} from '@eventstore/db-client';
import { type Batch, type Filter, matches } from '@fairlead/eventing';
import type { EventStoreDbConnection } from './connection';
import { isOurs, markedBy, positionOf, toEvent } from './event';

/** Number of events between two checkpoints of the server, and largest number of events that wait here. */
const WINDOW = 500;

/** A batch, and whether the end of the log has been reached for the first time. */
interface Heard extends Batch {
  /** Changes of streams that markers among the events tell, in order. */
  readonly marks: readonly NonNullable<ReturnType<typeof markedBy>>[];
  readonly caughtUp: boolean;
}

type Item = AllStreamResolvedEvent | { readonly checkpoint: bigint } | 'caught up';

/** A subscription to the whole log that the server filters. It is read only as fast as its events are handled. */
export class EventStoreDbSubscription {
  private items: Item[] = [];
  private ended = false;
  private failure: Error | undefined;
  private wake = (): void => undefined;

  private constructor(
    private readonly stream: AllStreamSubscription,
    private position: bigint,
    private readonly filter: Filter,
  ) {
    // Pushed among the events, as checkpoints are, so that it is read after those that came before it.
    stream.on('caughtUp', () => void stream.push('caught up' satisfies Item));
    stream.on('data', (item: Item) => this.add(item));
    stream.on('error', (error: Error) => this.end(error));
    stream.on('close', () => this.end());
  }

  /**
   * Subscribes to the events after `position`.
   * @throws EventStoreUnreachable when the server does not confirm in time
   */
  static async to(
    connection: EventStoreDbConnection,
    position: bigint,
    filter: Filter,
  ): Promise<EventStoreDbSubscription> {
    return connection.call(async (client, signal) => {
      const subscription = new EventStoreDbSubscription(
        client.subscribeToAll({ fromPosition: from(position), filter: atServer(filter), requiresLeader: true }),
        position,
        filter,
      );
      await subscription.confirmed(signal);
      return subscription;
    });
  }

  /**
   * Returns the events since the last call; none after `ms` milliseconds without any. Rejects once the subscription was
   * dropped.
   */
  async next(ms: number, signal: AbortSignal): Promise<Heard> {
    if (this.items.length === 0 && !this.ended && !signal.aborted) await this.something(ms, signal);
    if (this.items.length === 0 && this.ended) throw this.failure ?? new Error('The subscription was dropped.');
    const { items } = this;
    this.items = [];
    if (this.stream.isPaused()) this.stream.resume();
    return this.heard(items);
  }

  /** Ends the call. The stream is read to its end, because the client keeps a call until then. */
  close(): void {
    this.stream.unsubscribe().catch(() => undefined);
    this.stream.removeAllListeners('data').resume();
  }

  private heard(items: readonly Item[]): Heard {
    const batch = { events: [] as Batch['events'], marks: [] as Heard['marks'][number][], caughtUp: false };
    for (const item of items) {
      if (item === 'caught up') batch.caughtUp = true;
      else if ('checkpoint' in item) this.reached(item.checkpoint);
      else if (item.event) {
        this.reached(item.event.position.commit);
        const mark = markedBy(item.event);
        if (mark) batch.marks.push(mark);
        const event = isOurs(item.event) ? toEvent(item.event) : undefined;
        if (event && matches(event, this.filter)) batch.events.push(event);
      }
    }
    return { ...batch, position: this.position };
  }

  /** Handles a checkpoint. A first one may contain no position, and some are repeated. */
  private reached(said: bigint): void {
    const position = positionOf(said);
    if (position !== undefined && position > this.position) this.position = position;
  }

  private add(item: Item): void {
    this.items.push(item);
    if (this.items.length >= WINDOW) this.stream.pause();
    this.wake();
  }

  private end(failure?: Error): void {
    this.failure ??= failure;
    this.ended = true;
    this.wake();
  }

  private async confirmed(signal: AbortSignal): Promise<void> {
    try {
      await new Promise<void>((resolve, reject) => {
        this.stream.once('confirmation', resolve);
        this.stream.once('error', reject).once('close', reject);
        signal.addEventListener('abort', reject, { once: true });
      });
    } catch (error) {
      this.close();
      throw error;
    }
  }

  private something(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const resume = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', resume);
        resolve();
      };
      const timer = setTimeout(resume, ms);
      signal.addEventListener('abort', resume, { once: true });
      this.wake = resume;
    });
  }
}

export function from(position: bigint): typeof START | Position {
  return position === 0n ? START : { commit: position, prepare: position };
}

/** Returns the part of a filter that the server can apply; its events are filtered again here. */
function atServer({ categories, types }: Filter): ServerFilter {
  const options = {
    maxSearchWindow: WINDOW,
    checkpointReached: (subscription: AllStreamSubscription, { commit }: Position) =>
      void subscription.push({ checkpoint: commit } satisfies Item),
  };
  if (categories) return streamNameFilter({ prefixes: categories.map((category) => `${category}-`), ...options });
  if (types) return eventTypeFilter({ prefixes: [...types], ...options });
  // The metadata of a stream says that it was deleted or cut off.
  return streamNameFilter({ regex: '^(\\$\\$)?[^$]', ...options });
}
