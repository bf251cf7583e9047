export { EVENT_TYPES } from './event-types';
export { webhooksEntities } from './entities';
export * from './migrations';
export * from './read-models';
export * from './webhooks.module';
export * from './webhooks.options';
