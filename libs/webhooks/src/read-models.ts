import type { BatchHandler, ReadModel, Recorded } from '@fairlead/eventing';
import type { WebhookEvent } from './webhook';
import { applyToRow, WEBHOOK_EVENTS } from './webhook-rows.queries';
import { WEBHOOKS_VIEW } from './webhooks.projection';

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
