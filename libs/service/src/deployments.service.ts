import type { RolloutPlans } from '@fairlead/contracts';
import { OutboundPolicy } from '@fairlead/outbound';
import type { Service } from './service';
import type { RolloutSettings, Settings } from './settings/settings';

export async function deployments(settings?: Settings): Promise<Service> {
  const { deploymentsEntities, DeploymentsModule, deploymentsMigrations, DeploymentsOptions } =
    await import('@fairlead/deployments');
  const plans = settings && (await plansOf(settings.rollouts));
  const { CommitsModule, integrationsMigrations, IntegrationsOptions } = await import('@fairlead/integrations');
  return {
    migrations: deploymentsMigrations,
    entities: deploymentsEntities,
    module: ({ hosting, publicUrl, registry, outboundAllow, unusedAfter }) => {
      const outbound = new OutboundPolicy(outboundAllow);
      const executor = settings?.rollouts.executor;
      const more = { publicUrl, registry, outbound, unusedAfter, executor, plans };
      return DeploymentsModule.register(new DeploymentsOptions(hosting, more));
    },
    alone: {
      migrations: integrationsMigrations,
      modules: ({ outboundAllow }) => [
        CommitsModule.register(new IntegrationsOptions(new OutboundPolicy(outboundAllow))),
      ],
    },
  };
}

/** Plans of the executor for a change before it is stored; undefined for an executor without plans. */
async function plansOf({ executor, kubernetes }: RolloutSettings): Promise<RolloutPlans | undefined> {
  if (executor !== 'kubernetes') return undefined;
  const { KubernetesPlans } = await import('@fairlead/executors');
  return new KubernetesPlans(kubernetes);
}
