import { createRequire } from 'node:module';
import { storedTypes, upcasters } from '@fairlead/contracts';
import { type EventStore, PostgresEventStore, UpcastingEventStore } from '@fairlead/eventing';
import type { Pool } from 'pg';

const load = createRequire(__filename);

/**
 * Returns the adapter for EventStoreDB. A process loads it, with a client that takes 22 MB of memory, only when its
 * settings name such a log.
 */
export function eventStoreDb() {
  return load('@fairlead/eventstoredb') as typeof import('@fairlead/eventstoredb');
}

/** The event store cannot be used. The message is one line that says what is wrong and what to do. */
export class EventStoreProblem extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message.replace(/\s+/g, ' ').trim(), options);
    this.name = 'EventStoreProblem';
  }
}

export type OpenEventStore = EventStore & { close(): Promise<void> };

/** Returns whether a text is an address of EventStoreDB: `esdb://` or `esdb+discover://`. */
export function isEventStoreUrl(text: string): boolean {
  return /^esdb(\+discover)?:\/\//.test(text) && eventStoreDb().isAddress(text);
}

/**
 * Opens the log of a service whose read models, checkpoints, payloads and keys are in `database`: in EventStoreDB with
 * a `url`, otherwise in the database.
 * @throws EventStoreProblem when the server cannot be used, or the log is in the other store
 */
export async function openEventStore(database: Pool, url?: string): Promise<OpenEventStore> {
  const { rows } = await database.query<{ moved: string | null; filled: boolean }>(
    `select (select store from log_move where finished is not null) as moved, exists (select from events) as filled`,
  );
  const { moved, filled } = rows[0]!;
  if (url === undefined) {
    if (moved === null) return inTodaysShape(new PostgresEventStore(database));
    throw new EventStoreProblem(`The log was moved to EventStoreDB at ${moved}: set EVENTSTORE_URL.`);
  }
  if (filled && moved === null) {
    throw new EventStoreProblem(
      'The log is in the database: move it with `npm run migrate-store`, or unset EVENTSTORE_URL.',
    );
  }
  const { EventStoreDbStore } = eventStoreDb();
  const store = new EventStoreDbStore(url, { database });
  try {
    await store.head();
    return inTodaysShape(store);
  } catch (error) {
    await store.close();
    const reason = (error as { cause?: Error }).cause?.message ?? String(error);
    throw new EventStoreProblem(`EventStoreDB at ${placeOf(url)} cannot be used (${reason}): check EVENTSTORE_URL.`, {
      cause: error,
    });
  }
}

/** Returns a store whose events have the current shapes of the catalogue. */
function inTodaysShape(store: OpenEventStore): OpenEventStore {
  return Object.assign(new UpcastingEventStore(store, upcasters, storedTypes), { close: () => store.close() });
}

/** Returns the nodes of an address, without user and password. */
export function placeOf(url: string): string {
  return url.replace(/^[^:]*:\/\/(?:.*@)?/, '').replace(/[/?].*$/, '');
}
