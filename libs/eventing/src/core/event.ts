/** What happened, as a command decides it: a type in the past tense and its data. */
export interface DomainEvent<Type extends string = string, Data = unknown> {
  readonly type: Type;
  readonly data: Data;
}

/** Who caused an event, for whom and within which request. */
export interface Metadata {
  /** Tenant that owns the stream. */
  readonly tenant?: string;
  /** Id of the API key that acted, or `system:<part>` for the service itself. */
  readonly actor?: string;
  readonly requestId?: string;
  /** Method and path of the request. */
  readonly request?: string;
  /** Network address that the request came from. */
  readonly address?: string;
  readonly traceparent?: string;
  /** Why, in the caller's words (header `x-reason`). */
  readonly reason?: string;
  /** Identifies the command: a repeated command with the same id appends nothing. */
  readonly causationId?: string;
  /** Hash of the stream before the append that wrote the event (see `chain`); absent where the writer had not read it. */
  readonly previous?: string;
}

/** An event as the store gives it back. */
export type Recorded<E extends DomainEvent = DomainEvent> = E & {
  /** Unique; an append repeated with the same ids is one append. */
  readonly id: string;
  readonly stream: string;
  /** 1 for the first event of its stream, without holes. */
  readonly version: number;
  /** Place in the whole log, in commit order. */
  readonly position: bigint;
  /** ISO 8601 in UTC with milliseconds. */
  readonly time: string;
  readonly metadata: Metadata;
};

/** The stream of one thing: `category-id`. A category holds no hyphen, so the first one separates. */
export function streamName(category: string, id: string): string {
  return `${category}-${id}`;
}

/** The part of a stream's name before its first hyphen. */
export function categoryOf(stream: string): string {
  const hyphen = stream.indexOf('-');
  return hyphen < 0 ? stream : stream.slice(0, hyphen);
}

/** The part of a stream's name after its first hyphen. */
export function idOf(stream: string): string {
  return stream.slice(stream.indexOf('-') + 1);
}
