import { Followers, LogSeals } from '@fairlead/eventing';
import { Module, type OnModuleInit } from '@nestjs/common';
import { AuditController } from './audit.controller';
import { AuditQueries } from './audit.queries';
import { auditView } from './audit.view';
import { RefusalBook } from './refusal.book';

/** The audit log over HTTP, its read model, the record of refused requests, and the seals of the log. */
@Module({
  controllers: [AuditController],
  providers: [AuditQueries, RefusalBook],
  exports: [RefusalBook],
})
export class AuditModule implements OnModuleInit {
  constructor(
    private readonly followers: Followers,
    private readonly seals: LogSeals,
  ) {}

  onModuleInit(): void {
    this.followers.register(auditView);
    this.followers.register(this.seals);
  }
}
