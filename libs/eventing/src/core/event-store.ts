import type { EventType } from '@fairlead/contracts';
import { Conflict } from '@fairlead/schema';
import { categoryOf, type DomainEvent, type Metadata, type Recorded } from './event';

/**
 * An event to append; its type is in the catalogue. With an id, a repeated append writes it once; an id is generated
 * when absent.
 */
export type NewEvent = DomainEvent<EventType> & { readonly id?: string };

/** The last event an append wrote: its version in the stream and its position in the log. */
export interface Appended {
  readonly version: number;
  readonly position: bigint;
  /** Time of the append: ISO 8601 in UTC with milliseconds. */
  readonly time: string;
}

/**
 * Events in commit order. `position` is how far the log was read: it may be past the last event when a filter left out
 * others.
 */
export interface Batch {
  readonly events: Recorded[];
  readonly position: bigint;
}

export interface Filter {
  readonly categories?: readonly string[];
  readonly types?: readonly string[];
}

/** The events that a subscription wants. */
export interface Wanted extends Filter {
  /**
   * Called with a position up to which there are only events for others. It returns true when it needs no batch for
   * them; a store that does not call it yields one.
   */
  readonly passes?: (position: bigint) => boolean;
}

export function matches({ stream, type }: { stream: string; type: string }, { categories, types }: Filter): boolean {
  return (categories?.includes(categoryOf(stream)) ?? true) && (types?.includes(type) ?? true);
}

/** The append-only log of all streams. The class is also the injection token of the adapter in use. */
export abstract class EventStore {
  /**
   * Approximate distance between the positions of two events: 1 where positions count events, more where they count
   * bytes.
   */
  readonly stride: bigint = 1n;

  /**
   * Appends events to the end of a stream, all or none. They are durable when the promise resolves. `expectedVersion`
   * is the number of events that the caller has seen (0 for a new stream), or 'any'.
   * @throws VersionConflict when the stream has another number of events, AppendTooLarge, StreamDeleted
   */
  abstract append(
    stream: string,
    expectedVersion: number | 'any',
    events: readonly NewEvent[],
    metadata: Metadata,
  ): Promise<Appended>;

  /** An event that `append` was given, as `read` returns it. */
  appended(event: Recorded): Recorded {
    return event;
  }

  /**
   * Returns the events of a stream with a version above `after`, oldest first; empty when there are none.
   * @throws StreamDeleted when some of them no longer exist
   */
  abstract read(stream: string, after?: number): Promise<Recorded[]>;

  /**
   * Yields what `read` returns in parts of limited size, for streams that may be too long to be in memory as a whole.
   * @throws StreamDeleted as `read`
   */
  async *parts(stream: string, after = 0): AsyncIterable<Recorded[]> {
    const events = await this.read(stream, after);
    if (events.length > 0) yield events;
  }

  /** Returns the newest `count` events of a stream, oldest first. @throws StreamDeleted as `read` */
  async latest(stream: string, count: number): Promise<Recorded[]> {
    return (await this.read(stream)).slice(-count);
  }

  /**
   * Yields all events after `position` in commit order: first the existing ones, then new ones until `signal` aborts.
   */
  abstract subscribe(position: bigint, signal: AbortSignal, wanted?: Wanted): AsyncIterable<Batch>;

  /** Returns the position of the newest event; 0 when there is none. */
  abstract head(): Promise<bigint>;

  abstract at(position: bigint): Promise<Recorded | undefined>;

  /**
   * Returns the position of the newest record. It is at least `head`, and above it where the server adds records of its
   * own.
   */
  async end(): Promise<bigint> {
    return this.head();
  }

  /** Returns the streams that were deleted or truncated in the server, not by Fairlead. */
  async deletedStreams(): Promise<readonly string[]> {
    return [];
  }

  /** Returns those of them that this process knows, by the id in their names. */
  deletedById(): ReadonlyMap<string, ReadonlySet<string>> {
    return new Map();
  }

  /** Resolves when events can be appended, as far as can be checked without an append; rejects otherwise. */
  async ready(): Promise<void> {
    await this.head();
  }
}

/**
 * The stream was deleted or truncated in the server, not by Fairlead, so that its state is unknown. Only a backup of
 * the log restores it.
 */
export class StreamDeleted extends Conflict {
  constructor(readonly stream: string) {
    super(`The history ${stream} was deleted in the event store.`);
  }
}

export class VersionConflict extends Error {
  constructor(
    readonly stream: string,
    readonly expected: number,
    readonly actual: number,
  ) {
    super(`Stream ${stream} is at version ${actual}, not ${expected}.`);
    this.name = 'VersionConflict';
  }
}
