import { OutboundPolicy } from '@fairlead/outbound';
import type { Service } from './service';

export async function integrations(): Promise<Service> {
  const { integrationsEntities, IntegrationsModule, integrationsMigrations, IntegrationsOptions } =
    await import('@fairlead/integrations');
  const { deploymentsMigrations, SourcesModule } = await import('@fairlead/deployments');
  return {
    migrations: integrationsMigrations,
    entities: integrationsEntities,
    module: ({ outboundAllow }) =>
      IntegrationsModule.register(new IntegrationsOptions(new OutboundPolicy(outboundAllow))),
    alone: { migrations: deploymentsMigrations, modules: () => [SourcesModule.register()] },
  };
}
