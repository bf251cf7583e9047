import type { BatchHandler, ReadModel, Recorded } from '@fairlead/eventing';
import { WebhookEntity } from './webhook/webhook.entity';
import { WebhookTables1763600011000 } from './migrations/1763600011000-webhooks';
import { WebhookTargetRests1764200000900 } from './migrations/1764200000900-webhook-target-rests';
import type { WebhookEvent } from './webhook/webhook';
import { applyToRow, WEBHOOK_EVENTS, WEBHOOKS_VIEW } from './webhook/webhook-rows.queries';

/** Describe the table of webhooks. */
export const webhooksEntities = [WebhookEntity];

/** Tables of webhooks. */
export const webhooksMigrations = [WebhookTables1763600011000, WebhookTargetRests1764200000900];

/** The tables of this domain that can be made again from the log. The log of deliveries cannot. */
export function webhooksReadModels(): ReadModel[] {
  const handle: BatchHandler = async (events, tx) => {
    for (const event of events as Recorded<WebhookEvent>[]) await applyToRow(event, tx);
  };
  return [
    {
      name: 'webhooks',
      tables: ['webhooks'],
      projections: () => [{ name: WEBHOOKS_VIEW, types: WEBHOOK_EVENTS, handle }],
    },
  ];
}
