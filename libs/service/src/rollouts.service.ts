import { OutboundPolicy } from '@fairlead/outbound';
import type { Executor } from '@fairlead/rollouts';
import type { Service } from './service';
import type { RolloutSettings } from './settings';

type Rollouts = typeof import('@fairlead/rollouts');

export async function rollouts(): Promise<Service> {
  const domain = await import('@fairlead/rollouts');
  const { deploymentsMigrations, SourcesModule } = await import('@fairlead/deployments');
  const { CommitsModule, IntegrationsOptions } = await import('@fairlead/integrations');
  const { rolloutsMigrations, RolloutsModule, RolloutsOptions } = domain;
  return {
    migrations: rolloutsMigrations,
    entities: [],
    module: ({ rollouts: settings }) => RolloutsModule.with(executor(domain, settings), new RolloutsOptions(settings)),
    alone: {
      migrations: deploymentsMigrations,
      modules: ({ outboundAllow }) => [
        SourcesModule.with(),
        CommitsModule.with(new IntegrationsOptions(new OutboundPolicy(outboundAllow))),
      ],
    },
  };
}

function executor(
  { CommandExecutor, KubernetesExecutor, RecordExecutor }: Rollouts,
  { executor, commands, kubernetes }: RolloutSettings,
): Executor {
  if (executor === 'command') return new CommandExecutor(commands);
  if (executor === 'kubernetes') return new KubernetesExecutor(kubernetes);
  return new RecordExecutor();
}
