import type { AllStreamRecordedEvent, RecordedEvent } from '@eventstore/db-client';
import type { Metadata, Recorded } from './event';

/** An event of ours among the server's own, whose streams begin with a dollar sign. */
export function isOurs({ streamId }: { readonly streamId: string }): boolean {
  return !streamId.startsWith('$');
}

/** Metadata for an event that happened before it came here: it keeps its time. */
export function withOriginalTime(metadata: Metadata, time: string): Metadata {
  return { ...metadata, originalTime: time } as Metadata;
}

/** An event as every store gives it. One that was moved here from another store keeps the time it had there. */
export function toEvent(event: RecordedEvent): Recorded {
  const { originalTime, ...metadata } = (event.metadata ?? {}) as Metadata & { originalTime?: string };
  return {
    id: event.id,
    stream: event.streamId,
    version: Number(event.revision) + 1,
    position: (event as AllStreamRecordedEvent).position.commit,
    time: originalTime ?? event.created.toISOString(),
    type: event.type,
    data: event.data,
    metadata,
  };
}
