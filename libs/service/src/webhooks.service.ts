import { OutboundPolicy } from '@fairlead/outbound';
import type { Service } from './service';

export async function webhooks(): Promise<Service> {
  const { webhooksEntities, WebhooksModule, webhooksMigrations, WebhooksOptions } = await import('@fairlead/webhooks');
  return {
    migrations: webhooksMigrations,
    entities: webhooksEntities,
    module: ({ outboundAllow, webhookRetention }) => {
      const outbound = new OutboundPolicy(outboundAllow);
      return WebhooksModule.register(new WebhooksOptions({ outbound, retention: webhookRetention }));
    },
  };
}
