import { OutboundPolicy } from '@fairlead/outbound';
import { WebhooksModule, webhooksMigrations, WebhooksOptions } from '@fairlead/webhooks';
import type { Service } from './service';

export const webhooks: Service = {
  migrations: webhooksMigrations,
  module: ({ outboundAllow, webhookRetention }) => {
    const outbound = new OutboundPolicy(outboundAllow);
    return WebhooksModule.with(new WebhooksOptions({ outbound, retention: webhookRetention }));
  },
};
