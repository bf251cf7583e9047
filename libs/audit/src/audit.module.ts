import { Followers, LogSeals, sealSender, type SealTargets } from '@fairlead/eventing';
import { type DynamicModule, Inject, Module, type OnModuleInit } from '@nestjs/common';
import { AuditController } from './audit.controller';
import { AuditQueries } from './audit.queries';
import { auditView } from './audit.projection';
import { RejectedRequestsStore } from './rejected-requests.store';
import { WorkspaceExport } from './workspace-export.service';

const TARGETS = Symbol('where seals are sent to');

/** The audit log over HTTP, its read model, the record of refused requests, and the seals of the log. */
@Module({})
export class AuditModule implements OnModuleInit {
  /** Seals are sent to `targets` when they are made. */
  static register(targets: SealTargets = {}): DynamicModule {
    return {
      module: AuditModule,
      controllers: [AuditController],
      providers: [AuditQueries, RejectedRequestsStore, WorkspaceExport, { provide: TARGETS, useValue: targets }],
      exports: [RejectedRequestsStore],
    };
  }

  constructor(
    private readonly followers: Followers,
    private readonly seals: LogSeals,
    @Inject(TARGETS) private readonly targets: SealTargets,
  ) {}

  onModuleInit(): void {
    this.followers.register(auditView);
    this.followers.register(this.seals);
    const { file, webhook, bucket } = this.targets;
    if (file !== undefined || webhook || bucket) this.followers.register(sealSender(this.targets));
  }
}
