import type { DomainEvent, Metadata, Recorded } from './event';
import { type Appended, type Batch, EventStore, type NewEvent, type Wanted } from './event-store';

/**
 * Upcasters by event type: each turns any older shape of the event into the current one. They are pure, and leave the
 * current shape as it is.
 */
type Upcasters = Readonly<Record<string, (event: Recorded) => Recorded>>;

/**
 * Types under which some events are stored, each with the type that readers get. Processes of versions without the stored
 * type pass over these events, instead of taking them for something that they know.
 */
export type StoredTypes = Readonly<
  Record<string, { readonly type: string; readonly isFor: (data: unknown) => boolean }>
>;

const STORED = Symbol('stored');

export function upcast<E extends DomainEvent>(upcasters: Upcasters, event: Recorded): Recorded<E> {
  if (!Object.hasOwn(upcasters, event.type)) return event as Recorded<E>;
  return shapedFrom(storedShape(event), upcasters[event.type]!(event)) as Recorded<E>;
}

/** A copy of an event in today's shape that remembers how it is stored. */
function shapedFrom(stored: Recorded, event: Recorded): Recorded {
  return Object.defineProperty({ ...event }, STORED, { value: stored });
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
    private readonly storedTypes: StoredTypes = {},
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
    const stored = events.map((event) => ({ ...event, type: this.storedTypeOf(event) }));
    return this.store.append(stream, expectedVersion, stored, metadata);
  }

  override appended(event: Recorded): Recorded {
    const type = this.storedTypeOf(event);
    return type === event.type ? event : shapedFrom({ ...event, type }, event);
  }

  override async read(stream: string, after?: number): Promise<Recorded[]> {
    return (await this.store.read(stream, after)).map((event) => this.shaped(event));
  }

  override async *parts(stream: string, after?: number): AsyncIterable<Recorded[]> {
    for await (const events of this.store.parts(stream, after)) {
      yield events.map((event) => this.shaped(event));
    }
  }

  override async latest(stream: string, count: number): Promise<Recorded[]> {
    return (await this.store.latest(stream, count)).map((event) => this.shaped(event));
  }

  override async *subscribe(position: bigint, signal: AbortSignal, wanted?: Wanted): AsyncIterable<Batch> {
    const { types } = wanted ?? {};
    const stored = Object.entries(this.storedTypes).filter(([, { type }]) => types?.includes(type));
    const all = types && { ...wanted, types: [...types, ...stored.map(([name]) => name)] };
    for await (const batch of this.store.subscribe(position, signal, all ?? wanted)) {
      yield { ...batch, events: batch.events.map((event) => this.shaped(event)) };
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
    return event && this.shaped(event);
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

  private storedTypeOf({ type, data }: DomainEvent): string {
    const stored = Object.entries(this.storedTypes).find(([, of]) => of.type === type && of.isFor(data));
    return stored?.[0] ?? type;
  }

  private shaped(event: Recorded): Recorded {
    const type = this.storedTypes[event.type]?.type;
    return upcast(this.upcasters, type === undefined ? event : shapedFrom(event, { ...event, type }));
  }
}
