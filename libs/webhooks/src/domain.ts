import type { BatchHandler, ReadModel, Recorded } from '@fairlead/eventing';
import type { MigrationClass } from '@fairlead/postgres';
import { WebhookEntity } from './webhook/webhook.entity';
import type { WebhookEvent } from './webhook/webhook';
import { applyToRow, WEBHOOK_EVENTS, WEBHOOKS_VIEW } from './webhook/webhook.projection';
import * as tables from './migrations/webhook-tables';

/** Describe the table of webhooks. */
export const webhooksEntities = [WebhookEntity];

/** Tables of webhooks. */
export const webhooksMigrations = Object.values<MigrationClass>(tables);

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
