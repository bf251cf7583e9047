import { OutboundPolicy } from '@fairlead/outbound';
import type { Executor } from '@fairlead/executors';
import { hasAppPages } from './apps/app-pages';
import { appsFolder } from './apps/apps-folder';
import type { Service } from './service';
import type { RolloutSettings, Settings } from './settings/settings';

type Executors = typeof import('@fairlead/executors');

export async function rollouts(): Promise<Service> {
  const executors = await import('@fairlead/executors');
  const { deploymentsMigrations, SourcesModule } = await import('@fairlead/deployments');
  const { CommitsModule, integrationsMigrations, IntegrationsOptions } = await import('@fairlead/integrations');
  const { rolloutsMigrations, RolloutsModule, RolloutsOptions } = await import('@fairlead/rollouts');
  return {
    migrations: rolloutsMigrations,
    entities: [],
    module: (all) => {
      const { rollouts: settings, dataDir, publicUrl } = all;
      const chosen = executor(executors, settings, { dataDir, publicUrl, hasPages: hasAppPages(all) });
      return RolloutsModule.register(chosen, new RolloutsOptions(settings));
    },
    alone: {
      migrations: [...deploymentsMigrations, ...integrationsMigrations],
      modules: ({ outboundAllow }) => [
        SourcesModule.register(),
        CommitsModule.register(new IntegrationsOptions(new OutboundPolicy(outboundAllow))),
      ],
    },
  };
}

function executor(
  { CommandExecutor, KubernetesExecutor, LocalApps, LocalExecutor, RecordExecutor }: Executors,
  { executor, commands, kubernetes, local: { awake, ...local } }: RolloutSettings,
  { dataDir, publicUrl, hasPages }: Pick<Settings, 'dataDir' | 'publicUrl'> & { readonly hasPages: boolean },
): Executor {
  if (executor === 'command') return new CommandExecutor(commands);
  if (executor === 'kubernetes') return new KubernetesExecutor(kubernetes);
  if (executor === 'local') {
    const limits = { ...local, publicUrl, ...(awake !== undefined && { awake }) };
    return new LocalExecutor(new LocalApps(appsFolder(dataDir), limits, hasPages));
  }
  return new RecordExecutor();
}
