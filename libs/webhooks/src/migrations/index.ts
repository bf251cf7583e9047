import { WebhookTables1763600011000 } from './1763600011000-webhooks';

/** Tables of webhooks. */
export const webhooksMigrations = [WebhookTables1763600011000];
