import { upcasters } from '@fairlead/contracts';
import { EventStoreDBClient } from '@eventstore/db-client';
import type { Pool } from 'pg';
import type { EventStore } from './core/event-store';
import { UpcastingEventStore } from './core/upcasters';
import { EventStoreDbStore } from './eventstoredb/event-store';
import { PostgresEventStore } from './postgres/postgres-event-store';

/** An event store that cannot be used. The message is one line: what is wrong and what to do about it. */
export class EventStoreProblem extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message.replace(/\s+/g, ' ').trim(), options);
    this.name = 'EventStoreProblem';
  }
}

export type OpenEventStore = EventStore & { close(): Promise<void> };

/** Whether a text is an address of EventStoreDB: `esdb://` or `esdb+discover://`. */
export function isEventStoreUrl(text: string): boolean {
  if (!/^esdb(\+discover)?:\/\//.test(text)) return false;
  try {
    EventStoreDBClient.connectionString(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * The log of a service whose read models, checkpoints, payloads and keys are in `database`: in EventStoreDB when there
 * is a `url`, else in the database too.
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

/** A store whose events have the shapes of the catalogue, whenever they were written. */
function inTodaysShape(store: OpenEventStore): OpenEventStore {
  return Object.assign(new UpcastingEventStore(store, upcasters), { close: () => store.close() });
}

/** The nodes that an address names, without user and password. */
export function placeOf(url: string): string {
  return url.replace(/^[^:]*:\/\/(?:.*@)?/, '').replace(/[/?].*$/, '');
}
