export { DeliveryBounds } from './deliveries/delivery-bounds.store';
export { EVENT_TYPES } from './webhook/event-types';
export * from './webhooks.module';
export * from './webhook/webhooks.options';
export { webhooksEntities, webhooksMigrations, webhooksReadModels } from './domain';
