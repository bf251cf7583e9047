import type { EventType } from '@fairlead/contracts';
import { Conflict } from '@fairlead/schema';
import { categoryOf, type DomainEvent, type Metadata, type Recorded } from './event';

/** An event to append, of a type in the catalogue. Its id makes a retried append harmless; one is generated when absent. */
export type NewEvent = DomainEvent<EventType> & { readonly id?: string };

/** The last event an append wrote: its version in the stream and its position in the log. */
export interface Appended {
  readonly version: number;
  readonly position: bigint;
  /** When the store wrote it: ISO 8601 in UTC with milliseconds. */
  readonly time: string;
}

/** Events in commit order, and how far the log has been read: `position` may lie past the last event when others were filtered out. */
export interface Batch {
  readonly events: Recorded[];
  readonly position: bigint;
}

export interface Filter {
  /** Only streams of these categories. */
  readonly categories?: readonly string[];
  /** Only events of these types. */
  readonly types?: readonly string[];
}

/** Whether an event passes a filter. */
export function matches({ stream, type }: { stream: string; type: string }, { categories, types }: Filter): boolean {
  return (categories?.includes(categoryOf(stream)) ?? true) && (types?.includes(type) ?? true);
}

/** One append-only log of all streams. Also the injection token of the adapter in use. */
export abstract class EventStore {
  /** About how many positions lie between two events: 1 where positions count events, more where they count bytes. */
  readonly stride: bigint = 1n;

  /**
   * Appends events to the end of a stream, all or none, durable when the promise resolves.
   * `expectedVersion` is the number of events the caller has seen (0 for a new stream), or 'any'.
   * @throws VersionConflict when the stream holds another number of events, AppendTooLarge, StreamDeleted
   */
  abstract append(
    stream: string,
    expectedVersion: number | 'any',
    events: readonly NewEvent[],
    metadata: Metadata,
  ): Promise<Appended>;

  /**
   * The events of a stream with a version above `after`, oldest first; empty when there is none.
   * @throws StreamDeleted when some of them are not there any more
   */
  abstract read(stream: string, after?: number): Promise<Recorded[]>;

  /** All events after `position` in commit order: those there are, then live ones until `signal` aborts. */
  abstract subscribe(position: bigint, signal: AbortSignal, filter?: Filter): AsyncIterable<Batch>;

  /** Position of the newest event, 0 when there is none. */
  abstract head(): Promise<bigint>;

  /** The event at a position, undefined when there is none. */
  abstract at(position: bigint): Promise<Recorded | undefined>;

  /** Position of the newest record of any kind: not below `head`, and above it where the server adds records of its own. */
  async end(): Promise<bigint> {
    return this.head();
  }

  /** The streams that were deleted, or cut off at their beginning, in the server and not by Fairlead. */
  async deletedStreams(): Promise<readonly string[]> {
    return [];
  }

  /** Resolves when events can be appended, as far as that can be told without appending one; rejects when not. */
  async ready(): Promise<void> {
    await this.head();
  }
}

/**
 * The stream was deleted, or its oldest events were cut off, in the server of the log and not by Fairlead: what it stands
 * for is not known any more. Only a backup of the log brings it back.
 */
export class StreamDeleted extends Conflict {
  constructor(readonly stream: string) {
    super(`The history ${stream} was deleted in the event store.`);
  }
}

/** The stream holds another number of events than the caller expected. */
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
