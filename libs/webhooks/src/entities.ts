import { WebhookEntity } from './webhook.entity';

/** Describe the table of webhooks. */
export const webhooksEntities = [WebhookEntity];
