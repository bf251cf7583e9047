import { DeploymentsModule, deploymentsMigrations, DeploymentsOptions } from '@fairlead/deployments';
import { OutboundPolicy } from '@fairlead/http';
import type { Service } from './service';

export const deployments: Service = {
  migrations: deploymentsMigrations,
  module: ({ hosting, publicUrl, registry, outboundAllow }) => {
    const outbound = new OutboundPolicy(outboundAllow);
    return DeploymentsModule.with(new DeploymentsOptions(hosting, { rollouts: true, publicUrl, registry, outbound }));
  },
};
