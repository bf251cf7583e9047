import type { AllStreamRecordedEvent, RecordedEvent } from '@eventstore/db-client';
import type { Metadata, Recorded } from '@fairlead/eventing';

/** Largest position of a server; a larger number means that there is no position. */
const LARGEST = 2n ** 63n - 1n;

/** Returns the position in an answer of the server; undefined when it contains none, as in a first checkpoint. */
export function positionOf(said: bigint | undefined): bigint | undefined {
  return said !== undefined && said >= 0n && said < LARGEST ? said : undefined;
}

/** Returns the version of the event at a revision (one more); undefined for the marker of a deleted stream. */
export function versionOf(revision: bigint): number | undefined {
  return revision >= 0n && revision < BigInt(Number.MAX_SAFE_INTEGER) ? Number(revision) + 1 : undefined;
}

/** Returns whether a record is an event of Fairlead. Streams or types of the server begin with a dollar sign. */
export function isOurs({ streamId, type, revision }: RecordedEvent): boolean {
  return !streamId.startsWith('$') && !type.startsWith('$') && versionOf(revision) !== undefined;
}

/**
 * Reads a marker of the server about a stream of ours: whether it is cut off, at its beginning or as a whole, from then
 * on. Undefined for an event that is no such marker.
 */
export function markedBy({ streamId, type, data }: RecordedEvent): { stream: string; cut: boolean } | undefined {
  if (type === '$streamDeleted' && !streamId.startsWith('$')) return { stream: streamId, cut: true };
  if (type !== '$metadata' || !streamId.startsWith('$$') || streamId.startsWith('$$$')) return undefined;
  const metadata = Object(data) as Readonly<Record<string, unknown>>;
  return { stream: streamId.slice(2), cut: ['$tb', '$maxCount', '$maxAge'].some((limit) => Boolean(metadata[limit])) };
}

/** Returns metadata with the time of the event: that of its writer, or of the store that it was moved from. */
export function withOriginalTime(metadata: Metadata, time: string): Metadata {
  return { ...metadata, originalTime: time } as Metadata;
}

/** Returns whether metadata contains a time, as that of a moved event does. */
export function hasOriginalTime(metadata: Metadata): boolean {
  return isTime((metadata as { originalTime?: unknown }).originalTime);
}

/** Returns the time in metadata. Call it only when {@link hasOriginalTime} returns true. */
export function originalTime(metadata: Metadata): string {
  return (metadata as unknown as { originalTime: string }).originalTime;
}

/**
 * Returns a record as an event, with the time of its writer; events of earlier versions have the time of the server.
 */
export function toEvent(event: RecordedEvent): Recorded {
  const { originalTime, ...metadata } = (event.metadata ?? {}) as Metadata & { originalTime?: unknown };
  return {
    id: event.id,
    stream: event.streamId,
    version: versionOf(event.revision)!,
    position: (event as AllStreamRecordedEvent).position.commit,
    time: isTime(originalTime) ? originalTime : event.created.toISOString(),
    type: event.type,
    data: event.data,
    metadata,
  };
}

/** Returns whether a value is a time as Fairlead writes it: ISO 8601 in UTC with milliseconds. */
function isTime(time: unknown): time is string {
  return (
    typeof time === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(time) && !Number.isNaN(Date.parse(time))
  );
}
