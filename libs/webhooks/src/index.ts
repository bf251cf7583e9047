export { EVENT_TYPES } from './event-types';
export * from './webhooks.module';
export * from './webhooks.options';
export { webhooksEntities, webhooksMigrations, webhooksReadModels } from './domain';
