import { AccessModule } from '@fairlead/access';
import { AuditModule } from '@fairlead/audit';
import { AuthProvidersModule, AuthProvidersOptions } from '@fairlead/auth-providers';
import { DeploymentsModule, DeploymentsOptions } from '@fairlead/deployments';
import { EventingModule, type EventingParts } from '@fairlead/eventing';
import { ExperimentsModule } from '@fairlead/experiments';
import { OutboundPolicy } from '@fairlead/http';
import { IntegrationsModule, IntegrationsOptions } from '@fairlead/integrations';
import {
  CommandExecutor,
  type Executor,
  KubernetesExecutor,
  RecordExecutor,
  RolloutsModule,
  RolloutsOptions,
} from '@fairlead/rollouts';
import { type DynamicModule, Module } from '@nestjs/common';
import { HealthController } from './health.controller';
import { Readiness } from './readiness';
import type { RolloutSettings, Settings } from './settings';

/** Every service in one process. */
@Module({})
export class StandaloneModule {
  static with(parts: EventingParts, settings: Settings): DynamicModule {
    const { hosting, limits, rollouts, publicUrl, registry } = settings;
    const outbound = new OutboundPolicy(settings.outboundAllow);
    return {
      module: StandaloneModule,
      imports: [
        EventingModule.with(parts),
        AccessModule,
        AuditModule,
        AuthProvidersModule.with(new AuthProvidersOptions(outbound, publicUrl)),
        DeploymentsModule.with(new DeploymentsOptions(hosting, { rollouts: true, publicUrl, registry, outbound })),
        IntegrationsModule.with(new IntegrationsOptions(outbound)),
        RolloutsModule.with(executor(rollouts), new RolloutsOptions({ timeLimit: rollouts.timeLimit })),
        ExperimentsModule.with({
          maxBytes: limits.uploadMaxBytes,
          maxRowBytes: limits.uploadMaxRowBytes,
          maxDepth: limits.maxDepth,
        }),
      ],
      controllers: [HealthController],
      providers: [Readiness],
    };
  }
}

function executor({ executor, commands, namespace }: RolloutSettings): Executor {
  if (executor === 'command') return new CommandExecutor(commands);
  if (executor === 'kubernetes') return new KubernetesExecutor({ namespace });
  return new RecordExecutor();
}
