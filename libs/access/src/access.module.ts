import { type DynamicModule, Module, type OnModuleInit } from '@nestjs/common';
import {
  EventStore,
  Followers,
  handle,
  Quotas,
  stoppedWorkspacesProjection,
  streamName,
  WorkspaceRemovals,
} from '@fairlead/eventing';
import { ProgramKeys } from '@fairlead/api';
import { Authenticator } from './authenticator.service';
import { AccessOptions } from './tenants/access.options';
import { apiKeyModel, endKey, endsWith } from './keys/api-key';
import { ApiKeysController } from './keys/api-keys.controller';
import { ParkedSubjectsController } from './parked-subjects.controller';
import { apiKeysProjection, ApiKeyView } from './keys/api-key.projection';
import { consoleSessionsProjection, ConsoleSessionView } from './console/console-session.projection';
import { ConsoleSessionsController } from './console/console-sessions.controller';
import { ConsoleSessions } from './console/console-session.commands';
import { TenantsController } from './tenants/tenants.controller';
import { tenantsProjection, TenantView } from './tenants/tenant.projection';
import { WorkspacesController } from './tenants/workspaces.controller';

/** Tenants, API keys and who may do what. */
@Module({})
export class AccessModule implements OnModuleInit {
  constructor(
    private readonly followers: Followers,
    private readonly quotas: Quotas,
    private readonly removals: WorkspaceRemovals,
    private readonly keys: ApiKeyView,
    private readonly authenticator: Authenticator,
    private readonly store: EventStore,
  ) {}

  static register(options = new AccessOptions()): DynamicModule {
    return {
      module: AccessModule,
      global: true,
      controllers: [
        ApiKeysController,
        ConsoleSessionsController,
        ParkedSubjectsController,
        TenantsController,
        WorkspacesController,
      ],
      providers: [
        { provide: AccessOptions, useValue: options },
        ...[Authenticator, ApiKeyView, ConsoleSessions, ConsoleSessionView, ProgramKeys, TenantView],
      ],
      exports: [Authenticator, ProgramKeys],
    };
  }

  onModuleInit(): void {
    this.quotas.count('api_keys', 'ApiKeyCreated', 'ApiKeyRevoked', endsWith);
    this.followers.register(tenantsProjection);
    this.followers.register(apiKeysProjection);
    this.followers.register(consoleSessionsProjection);
    this.followers.register(stoppedWorkspacesProjection);
    this.removals.register('api_keys', 'system:access', [
      {
        view: apiKeysProjection.name,
        find: (tenant, limit) => this.keys.working(tenant, limit),
        remove: ({ metadata }, id) => handle(this.store, apiKeyModel, streamName('apiKey', id), endKey, metadata),
        removed: () => this.authenticator.forgetKeys(),
      },
    ]);
  }
}
