import type { DomainEvent, Metadata, Recorded } from './event';
import { type Appended, type Batch, EventStore, type NewEvent, type Wanted } from './event-store';

/**
 * Upcasters by event type: each turns any older shape of the event into the current one. They are pure, and leave the
 * current shape as it is.
 */
type Upcasters = Readonly<Record<string, (event: Recorded) => Recorded>>;

const STORED = Symbol('stored');

export function upcast<E extends DomainEvent>(upcasters: Upcasters, event: Recorded): Recorded<E> {
  if (!Object.hasOwn(upcasters, event.type)) return event as Recorded<E>;
  const shaped = { ...upcasters[event.type]!(event) };
  return Object.defineProperty(shaped, STORED, { value: storedShape(event) }) as Recorded<E>;
}

export function storedShape(event: Recorded): Recorded {
  return (event as { [STORED]?: Recorded })[STORED] ?? event;
}

/** A store that returns every event in its current shape. What is stored stays as it was written. */
export class UpcastingEventStore extends EventStore {
  override readonly stride: bigint;

  constructor(
    private readonly store: EventStore,
    private readonly upcasters: Upcasters,
  ) {
    super();
    this.stride = store.stride;
  }

  override append(
    stream: string,
    expectedVersion: number | 'any',
    events: readonly NewEvent[],
    metadata: Metadata,
  ): Promise<Appended> {
    return this.store.append(stream, expectedVersion, events, metadata);
  }

  override async read(stream: string, after?: number): Promise<Recorded[]> {
    return (await this.store.read(stream, after)).map((event) => upcast(this.upcasters, event));
  }

  override async *parts(stream: string, after?: number): AsyncIterable<Recorded[]> {
    for await (const events of this.store.parts(stream, after)) {
      yield events.map((event) => upcast(this.upcasters, event));
    }
  }

  override async *subscribe(position: bigint, signal: AbortSignal, wanted?: Wanted): AsyncIterable<Batch> {
    for await (const batch of this.store.subscribe(position, signal, wanted)) {
      yield { ...batch, events: batch.events.map((event) => upcast(this.upcasters, event)) };
    }
  }

  override deletedById(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.store.deletedById();
  }

  override head(): Promise<bigint> {
    return this.store.head();
  }

  override async at(position: bigint): Promise<Recorded | undefined> {
    const event = await this.store.at(position);
    return event && upcast(this.upcasters, event);
  }

  override end(): Promise<bigint> {
    return this.store.end();
  }

  override deletedStreams(): Promise<readonly string[]> {
    return this.store.deletedStreams();
  }

  override ready(): Promise<void> {
    return this.store.ready();
  }
}
