import { AccessModule } from '@fairlead/access';
import { DeploymentsModule, DeploymentsOptions } from '@fairlead/deployments';
import { EventingModule, type EventingParts } from '@fairlead/eventing';
import { ExperimentsModule } from '@fairlead/experiments';
import { type DynamicModule, Module } from '@nestjs/common';
import { HealthController } from './health.controller';
import { Readiness } from './readiness';
import type { Settings } from './settings';

/** Every service in one process. */
@Module({})
export class StandaloneModule {
  static with(parts: EventingParts, { hosting, limits }: Settings): DynamicModule {
    return {
      module: StandaloneModule,
      imports: [
        EventingModule.with(parts),
        AccessModule,
        DeploymentsModule.with(new DeploymentsOptions(hosting)),
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
