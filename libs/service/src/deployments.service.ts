import { OutboundPolicy } from '@fairlead/outbound';
import type { Service } from './service';

export async function deployments(): Promise<Service> {
  const { deploymentsEntities, DeploymentsModule, deploymentsMigrations, DeploymentsOptions } =
    await import('@fairlead/deployments');
  return {
    migrations: deploymentsMigrations,
    entities: deploymentsEntities,
    module: ({ hosting, publicUrl, registry, outboundAllow, unusedAfter }) => {
      const outbound = new OutboundPolicy(outboundAllow);
      const more = { publicUrl, registry, outbound, unusedAfter };
      return DeploymentsModule.with(new DeploymentsOptions(hosting, more));
    },
  };
}
