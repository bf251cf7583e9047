import { WebhookTables1763600011000 } from './1763600011000-webhooks';
import { WebhookTargetRests1764200000900 } from './1764200000900-webhook-target-rests';

/** Tables of webhooks. */
export const webhooksMigrations = [WebhookTables1763600011000, WebhookTargetRests1764200000900];
