import { EventingModule, type EventingParts } from '@fairlead/eventing';
import { ReferenceController } from '@fairlead/api';
import type { Remote } from '@fairlead/gateway';
import { type DynamicModule, Module } from '@nestjs/common';
import { HealthModule } from './health/health.module';
import { oneWorkspaceReason } from './one-workspace';
import { SearchController } from './search/search.controller';
import type { Service } from './service';
import type { ServiceName, Settings } from './settings/settings';

/** The part of the service that clients reach: keys, the gateway, and the services. */
@Module({})
class EdgeModule {}

/** Makes the module; services run in this process, except those that `elsewhere` has an address of. */
type MakeEdgeModule = (
  parts: EventingParts,
  settings: Settings,
  elsewhere: (service: ServiceName) => Remote | undefined,
) => DynamicModule;

/** Loads what only a process has that clients reach: keys, the audit log and the gateway. */
export async function edgeModule(services: ReadonlyMap<ServiceName, Service>): Promise<MakeEdgeModule> {
  const { AccessModule, AccessOptions } = await import('@fairlead/access');
  const { AuditModule } = await import('@fairlead/audit');
  const { mount } = await import('@fairlead/gateway');
  return (parts, settings, elsewhere) => ({
    module: EdgeModule,
    imports: [
      EventingModule.forRoot(parts),
      AccessModule.register(new AccessOptions(oneWorkspaceReason(settings.rollouts), settings.edge.https)),
      AuditModule.register(settings.seals),
      ...[...services].map(([name, { module }]) => mount(module(settings), elsewhere(name))),
      HealthModule.register(settings),
    ],
    controllers: [ReferenceController, SearchController],
  });
}
