export interface LoggedEvent {
  readonly type: string;
  /** `category-id` */
  readonly stream: string;
  readonly data: unknown;
}

/** Topics of Kafka that are described for everybody, in asyncapi.yaml. */
export type PublicTopic = 'deployments.v1' | 'revisions.v1' | 'experiments.v1';

/** Returns an event of any older shape in today's shape. Pure, and harmless on today's shape. */
export type Upcaster = <E extends LoggedEvent>(event: E) => E;

/**
 * Returns what everybody may know of an event: ids and plain facts, nothing sealed, nothing opaque. Takes the event's
 * data, and the id of the deployment, dataset, session … it is about.
 */
type Facts = (data: never, id: string) => object;

/** The shape of an event's data: 1 until it changes; what was written before the change then needs an upcaster. */
type Shape = { readonly schema: 1 } | { readonly schema: 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9; readonly upcast: Upcaster };

/** Nobody outside the log is told of it. */
interface Kept {
  readonly facts?: never;
  readonly topic?: never;
  readonly webhook?: never;
}

/** Its facts go to webhooks, to other services of this installation over Kafka, or to both. */
interface Told {
  readonly facts: Facts;
  /** `internal.v1` is for Fairlead's own services. */
  readonly topic?: 'internal.v1';
  readonly webhook?: string;
}

/** Its facts are a message that asyncapi.yaml describes. */
interface Published {
  readonly facts: Facts;
  readonly topic: PublicTopic;
  readonly webhook: string;
  /** The event in one sentence, for documentation. */
  readonly title: string;
  readonly payload: object;
}

export type Row = Shape &
  (Kept | Told | Published) & {
    /** Operation of the request that caused it, in the words of audit logs: a verb, then its object. */
    readonly operation: string;
  };
