/** An event before it is stored: a type in the past tense, and data. */
export interface DomainEvent<Type extends string = string, Data = unknown> {
  readonly type: Type;
  readonly data: Data;
}

/** Origin of an event: its actor, its tenant and the request that caused it. */
export interface Metadata {
  readonly tenant?: string;
  /** Id of the API key that acted, or `system:<part>` for the service itself. */
  readonly actor?: string;
  readonly requestId?: string;
  readonly request?: string;
  readonly address?: string;
  readonly traceparent?: string;
  /** Why, in the caller's words (header `x-reason`). */
  readonly reason?: string;
  /** Cause of the command: for a consumer, the id of its event; for a request, its Idempotency-Key. */
  readonly causationId?: string;
  /** Hash of the stream before the append (see `chain`); absent when the writer had not read the stream. */
  readonly previous?: string;
}

export type Recorded<E extends DomainEvent = DomainEvent> = E & {
  /** Unique. An append that is repeated with the same ids is carried out once. */
  readonly id: string;
  readonly stream: string;
  /** Number of the event in its stream: 1, 2, 3, … */
  readonly version: number;
  readonly position: bigint;
  /** ISO 8601 in UTC with milliseconds. */
  readonly time: string;
  readonly metadata: Metadata;
};

/** Returns the name of a stream, `category-id`. A category contains no hyphen, so the first hyphen separates. */
export function streamName(category: string, id: string): string {
  return `${category}-${id}`;
}

export function categoryOf(stream: string): string {
  const hyphen = stream.indexOf('-');
  return hyphen < 0 ? stream : stream.slice(0, hyphen);
}

export function idOf(stream: string): string {
  return stream.slice(stream.indexOf('-') + 1);
}
