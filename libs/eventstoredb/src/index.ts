export { EventStoreUnreachable, isAddress } from './connection';
export { withOriginalTime } from './event';
export { EventStoreDbStore } from './event-store';
