import { connectionEvents } from './connections';
import { deploymentEvents } from './deployments';
import { experimentEvents } from './experiments';
import { installationEvents } from './installation';
import { monitorEvents } from './monitors';
import { rolloutEvents } from './rollouts';
import type { RevisionCreatedMessage } from '../ports/rollouts';
import type { LoggedEvent, Row, Upcaster } from './row';

/**
 * Every type of event that can be in the log: what it is called elsewhere, what is told of it, and the version of its
 * shape. Kafka's topics and messages, webhooks, the names in audit logs, asyncapi.yaml and upcasters derive from it.
 */
export const CATALOGUE = {
  ...deploymentEvents,
  ...experimentEvents,
  ...connectionEvents,
  ...monitorEvents,
  ...rolloutEvents,
  ...installationEvents,
};

type Catalogue = typeof CATALOGUE;

/** Empty, but for tests, which append events of types of their own. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type
export interface TestEvents {}

/** Types of events that can be appended: a type without a row does not compile. */
// oxlint-disable-next-line typescript/no-redundant-type-constituents
export type EventType = keyof Catalogue | TestEvents[keyof TestEvents];

/** The types that webhooks are told of, in the words of webhooks. */
export type WebhookType = Extract<Catalogue[keyof Catalogue], { readonly webhook: string }>['webhook'];

const ROWS: ReadonlyMap<string, Row> = new Map<string, Row>(Object.entries(CATALOGUE));

export function rowOf(type: string): Row | undefined {
  return ROWS.get(type);
}

/** Public facts of an event; undefined when nothing of it may be told. */
export function factsOf({ type, stream, data }: LoggedEvent): object | undefined {
  return rowOf(type)?.facts?.(data as never, stream.slice(stream.indexOf('-') + 1));
}

export const publications = {
  topics: new Map([...ROWS].flatMap(([type, { topic }]): [string, string][] => (topic ? [[type, topic]] : []))),
  data: (event: LoggedEvent): object => factsOf(event) ?? {},
};

export function upcastersOf(rows: Iterable<readonly [string, Row]>): Readonly<Record<string, Upcaster>> {
  return Object.fromEntries([...rows].flatMap(([type, row]) => ('upcast' in row ? [[type, row.upcast]] : [])));
}

export const upcasters = upcastersOf(ROWS);

/**
 * Types under which events are stored that processes of earlier versions must not act on: those of rollouts would deploy a
 * revision with gates without asking them.
 */
export const storedTypes = {
  GatedRevisionCreated: {
    type: 'RevisionCreated',
    isFor: (data: unknown) => (data as Partial<RevisionCreatedMessage> | null)?.gates !== undefined,
  },
} satisfies Readonly<Record<string, { readonly type: EventType; readonly isFor: (data: unknown) => boolean }>>;
