import { OutboundPolicy } from '@fairlead/outbound';
import type { Service } from './service';

export async function integrations(): Promise<Service> {
  const { integrationsEntities, IntegrationsModule, integrationsMigrations, IntegrationsOptions } =
    await import('@fairlead/integrations');
  const { deploymentsMigrations, SourcesModule } = await import('@fairlead/deployments');
  const { VerdictReportsModule } = await import('@fairlead/evaluation');
  const { experimentsMigrations } = await import('@fairlead/experiments');
  return {
    migrations: integrationsMigrations,
    entities: integrationsEntities,
    module: ({ outboundAllow, publicUrl }) =>
      IntegrationsModule.register(new IntegrationsOptions(new OutboundPolicy(outboundAllow), publicUrl)),
    alone: {
      migrations: [...deploymentsMigrations, ...experimentsMigrations],
      modules: ({ limits }) => [SourcesModule.register(), VerdictReportsModule.register({ maxRuns: limits.maxRuns })],
    },
  };
}
