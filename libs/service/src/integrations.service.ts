import { OutboundPolicy } from '@fairlead/outbound';
import { IntegrationsModule, integrationsMigrations, IntegrationsOptions } from '@fairlead/integrations';
import type { Service } from './service';

export const integrations: Service = {
  migrations: integrationsMigrations,
  module: ({ outboundAllow }) => IntegrationsModule.with(new IntegrationsOptions(new OutboundPolicy(outboundAllow))),
};
