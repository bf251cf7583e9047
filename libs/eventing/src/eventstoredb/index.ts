export { EventStoreUnreachable, isAddress } from './connection';
export { EventStoreDbStore } from './event-store';
