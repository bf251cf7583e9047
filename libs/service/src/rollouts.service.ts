import { deploymentsMigrations, SourcesModule } from '@fairlead/deployments';
import { OutboundPolicy } from '@fairlead/outbound';
import { CommitsModule, IntegrationsOptions } from '@fairlead/integrations';
import {
  CommandExecutor,
  type Executor,
  KubernetesExecutor,
  RecordExecutor,
  rolloutsMigrations,
  RolloutsModule,
  RolloutsOptions,
} from '@fairlead/rollouts';
import type { Service } from './service';
import type { RolloutSettings } from './settings';

export const rollouts: Service = {
  migrations: rolloutsMigrations,
  module: ({ rollouts: settings }) =>
    RolloutsModule.with(executor(settings), new RolloutsOptions({ timeLimit: settings.timeLimit })),
  alone: {
    migrations: deploymentsMigrations,
    modules: ({ outboundAllow }) => [
      SourcesModule.with(),
      CommitsModule.with(new IntegrationsOptions(new OutboundPolicy(outboundAllow))),
    ],
  },
};

function executor({ executor, commands, namespace }: RolloutSettings): Executor {
  if (executor === 'command') return new CommandExecutor(commands);
  if (executor === 'kubernetes') return new KubernetesExecutor({ namespace });
  return new RecordExecutor();
}
