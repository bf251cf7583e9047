import { Module } from '@nestjs/common';
import { HealthController } from './health.controller';
import { Readiness } from './readiness';

/** Health of the process. Needs the providers of EventingModule. */
@Module({ controllers: [HealthController], providers: [Readiness] })
export class HealthModule {}
