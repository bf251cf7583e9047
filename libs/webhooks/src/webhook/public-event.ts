import { CATALOGUE, factsOf, rowOf } from '@fairlead/contracts';
import type { Recorded } from '@fairlead/eventing';

/** The public form of an event: ids and plain facts, without secrets and free-form content. */
interface PublicEvent {
  readonly type: string;
  /** Time of the event: ISO 8601 in UTC. */
  readonly timestamp: string;
  readonly data: object;
}

/** Types of the log's events that are published. */
export const PUBLISHED = Object.keys(CATALOGUE).filter((type) => rowOf(type)?.webhook !== undefined);

/** Returns the public form of an event; undefined when it has none. */
export function publicEvent(event: Recorded): PublicEvent | undefined {
  const type = rowOf(event.type)?.webhook;
  const data = factsOf(event);
  return type !== undefined && data ? { type, timestamp: event.time, data } : undefined;
}
