import { HttpProblem } from '@fairlead/schema';
import type { DomainEvent, Metadata } from '../core/event';

/**
 * Largest number of bytes of the events of one append. EventStoreDB accepts 1 MiB; the rest is for what a store adds to
 * the metadata. All stores have the same limit, so that a log can move to any other.
 */
export const MAX_APPEND_BYTES = 1_000_000;

/** The events are too large for one append. Large content belongs in a payload. */
export class AppendTooLarge extends HttpProblem {
  constructor(
    readonly stream: string,
    readonly bytes: number,
  ) {
    super(413, `The change takes ${bytes} bytes; at most ${MAX_APPEND_BYTES} can be recorded at once.`);
  }
}

/** The JSON of an append: the data of each event, and the metadata of all. */
export interface AppendTexts {
  readonly data: readonly string[];
  readonly metadata: string;
}

/** Returns the JSON of an append. It refuses an append without events, or above the limit. @throws AppendTooLarge */
export function checkAppend(stream: string, events: readonly DomainEvent[], metadata: Metadata): AppendTexts {
  if (events.length === 0) throw new Error('An append needs at least one event.');
  const texts = { data: events.map(({ data }) => JSON.stringify(data)), metadata: JSON.stringify(metadata) };
  const shared = Buffer.byteLength(texts.metadata);
  const bytes = events.reduce((sum, { type }, nth) => sum + counted(type, texts.data[nth]!, shared), 0);
  if (bytes > MAX_APPEND_BYTES) throw new AppendTooLarge(stream, bytes);
  return texts;
}

/**
 * Returns how much an event counts towards the limit: its data, its metadata and, as on the disk of EventStoreDB, twice
 * its type.
 */
export function appendedBytes({ type, data }: DomainEvent, metadata: Metadata): number {
  return counted(type, JSON.stringify(data), Buffer.byteLength(JSON.stringify(metadata)));
}

function counted(type: string, data: string, metadataBytes: number): number {
  return 2 * type.length + Buffer.byteLength(data) + metadataBytes;
}
