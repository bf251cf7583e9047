import { AccessModule } from '@fairlead/access';
import { AuditModule } from '@fairlead/audit';
import { EventingModule, type EventingParts } from '@fairlead/eventing';
import { ReferenceController } from '@fairlead/http';
import { type DynamicModule, Module } from '@nestjs/common';
import { HealthModule } from './health.module';
import { services } from './services';
import type { Settings } from './settings';

/** Everything that clients reach. */
@Module({})
export class EdgeModule {
  static with(parts: EventingParts, settings: Settings): DynamicModule {
    return {
      module: EdgeModule,
      imports: [
        EventingModule.with(parts),
        AccessModule,
        AuditModule,
        ...Object.values(services).map((service) => service.module(settings)),
        HealthModule,
      ],
      controllers: [ReferenceController],
    };
  }
}
