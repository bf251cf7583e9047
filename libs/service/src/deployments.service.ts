import { DeploymentsModule, deploymentsMigrations, DeploymentsOptions } from '@fairlead/deployments';
import { OutboundPolicy } from '@fairlead/outbound';
import type { Service } from './service';

export const deployments: Service = {
  migrations: deploymentsMigrations,
  module: ({ hosting, publicUrl, registry, outboundAllow, unusedAfter }) => {
    const outbound = new OutboundPolicy(outboundAllow);
    const more = { rollouts: true, publicUrl, registry, outbound, unusedAfter };
    return DeploymentsModule.with(new DeploymentsOptions(hosting, more));
  },
};
