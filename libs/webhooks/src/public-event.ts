import { CATALOGUE, factsOf, rowOf } from '@fairlead/contracts';
import type { Recorded } from '@fairlead/eventing';

/** An event as the world outside is told it: ids and plain facts, nothing secret, nothing opaque. */
interface PublicEvent {
  readonly type: string;
  /** When it happened: ISO 8601 in UTC. */
  readonly timestamp: string;
  readonly data: object;
}

/** Types of the log's events that are published. */
export const PUBLISHED = Object.keys(CATALOGUE).filter((type) => rowOf(type)?.webhook !== undefined);

/** What an event of the log tells the world outside; undefined when that is nothing. */
export function publicEvent(event: Recorded): PublicEvent | undefined {
  const type = rowOf(event.type)?.webhook;
  const data = factsOf(event);
  return type !== undefined && data ? { type, timestamp: event.time, data } : undefined;
}
