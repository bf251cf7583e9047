import { EventStoreTables1763600000000 } from './1763600000000-event-store';

/** Tables of the event store, followers, consumers and the vault. */
export const eventingMigrations = [EventStoreTables1763600000000];
