export { EVENT_TYPES, type EventType } from './event-types';
export * from './migrations';
export type { PublicEvent } from './public-event';
export * from './read-models';
export * from './webhooks.module';
export * from './webhooks.options';
