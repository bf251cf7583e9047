import { type DynamicModule, Module } from '@nestjs/common';
import { HealthController } from './health.controller';
import { HealthOptions } from './health.options';
import { Readiness } from './readiness';

/** Health of the process. Needs the providers of EventingModule. */
@Module({})
export class HealthModule {
  static register({ metricsToken }: HealthOptions): DynamicModule {
    const options = { provide: HealthOptions, useValue: new HealthOptions(metricsToken) };
    return { module: HealthModule, controllers: [HealthController], providers: [Readiness, options] };
  }
}
