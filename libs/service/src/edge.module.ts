import { AccessModule, AccessOptions } from '@fairlead/access';
import { AuditModule } from '@fairlead/audit';
import { EventingModule, type EventingParts } from '@fairlead/eventing';
import { ReferenceController } from '@fairlead/api';
import { mount, type Remote } from '@fairlead/gateway';
import { type DynamicModule, Module } from '@nestjs/common';
import { HealthModule } from './health/health.module';
import { ONE_WORKSPACE } from './one-workspace';
import { SearchController } from './search/search.controller';
import type { Service } from './service';
import type { ServiceName } from './services';
import type { Settings } from './settings';

/** The part of the service that clients reach: keys, the gateway, and the services. */
@Module({})
export class EdgeModule {
  /** Services run in this process, except those in `elsewhere`. */
  static with(
    parts: EventingParts,
    settings: Settings,
    services: ReadonlyMap<ServiceName, Service>,
    elsewhere: (service: ServiceName) => Remote | undefined,
  ): DynamicModule {
    return {
      module: EdgeModule,
      imports: [
        EventingModule.with(parts),
        AccessModule.with(
          new AccessOptions(
            settings.rollouts.executor === 'kubernetes' ? ONE_WORKSPACE : undefined,
            settings.edge.https,
          ),
        ),
        AuditModule.with(settings.seals),
        ...[...services].map(([name, { module }]) => mount(module(settings), elsewhere(name))),
        HealthModule.with(settings),
      ],
      controllers: [ReferenceController, SearchController],
    };
  }
}
