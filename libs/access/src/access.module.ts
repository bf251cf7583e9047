import { Idempotency, ProgramKeys } from '@fairlead/api';
import { Followers, Quotas, stoppedWorkspacesProjection, Vault, WorkspaceRemovals } from '@fairlead/eventing';
import { type DynamicModule, Module, type OnModuleInit } from '@nestjs/common';
import { AdminKey } from './admin-key.service';
import { Authenticator } from './authenticator.service';
import { ConsoleSessionCommands } from './console/console-session.commands';
import { consoleSessionsProjection } from './console/console-session.projection';
import { ConsoleSessionQueries } from './console/console-session.queries';
import { ConsoleSessionsController } from './console/console-sessions.controller';
import { SignIn } from './console/sign-in.service';
import { endsWith } from './keys/api-key';
import { ApiKeyCommands } from './keys/api-key.commands';
import { apiKeysProjection } from './keys/api-key.projection';
import { ApiKeyQueries } from './keys/api-key.queries';
import { ApiKeysController } from './keys/api-keys.controller';
import { KnownKeys } from './keys/known-keys.service';
import { ParkedSubjectsController } from './parked-subjects.controller';
import { AccessOptions } from './tenants/access.options';
import { KnownTenants } from './tenants/known-tenants.service';
import { TenantCommands } from './tenants/tenant.commands';
import { tenantsProjection } from './tenants/tenant.projection';
import { TenantQueries } from './tenants/tenant.queries';
import { TenantsController } from './tenants/tenants.controller';
import { WorkspacesController } from './tenants/workspaces.controller';
import { deleteView } from './views/saved-view';
import { SavedViewCommands } from './views/saved-view.commands';
import { savedViewsProjection } from './views/saved-view.projection';
import { SavedViewQueries } from './views/saved-view.queries';
import { SavedViewsController } from './views/saved-views.controller';

/** Tenants, API keys and who may do what, and the views of lists that people of a workspace share. */
@Module({})
export class AccessModule implements OnModuleInit {
  constructor(
    private readonly followers: Followers,
    private readonly quotas: Quotas,
    private readonly removals: WorkspaceRemovals,
    private readonly keys: ApiKeyCommands,
    private readonly queries: ApiKeyQueries,
    private readonly known: KnownKeys,
    private readonly views: SavedViewCommands,
    private readonly savedViews: SavedViewQueries,
  ) {}

  static register(options = new AccessOptions()): DynamicModule {
    return {
      module: AccessModule,
      global: true,
      controllers: [
        ApiKeysController,
        ConsoleSessionsController,
        ParkedSubjectsController,
        SavedViewsController,
        TenantsController,
        WorkspacesController,
      ],
      providers: [
        { provide: AccessOptions, useValue: options },
        ...[AdminKey, Authenticator, ProgramKeys],
        ...[ApiKeyCommands, ApiKeyQueries, KnownKeys],
        ...[TenantCommands, TenantQueries, KnownTenants],
        ...[ConsoleSessionCommands, ConsoleSessionQueries, SignIn],
        ...[SavedViewCommands, SavedViewQueries, Idempotency.hashedBy(Vault)],
      ],
      exports: [AdminKey, Authenticator, ProgramKeys],
    };
  }

  onModuleInit(): void {
    this.quotas.count('api_keys', 'ApiKeyCreated', 'ApiKeyRevoked', endsWith);
    this.quotas.count('views', 'SavedViewCreated', 'SavedViewDeleted');
    this.followers.register(tenantsProjection);
    this.followers.register(apiKeysProjection);
    this.followers.register(consoleSessionsProjection);
    this.followers.register(savedViewsProjection);
    this.followers.register(stoppedWorkspacesProjection);
    this.removals.register('api_keys', 'system:access', [
      {
        view: apiKeysProjection.name,
        find: (tenant, limit) => this.queries.working(tenant, limit),
        remove: ({ metadata }, id) => this.keys.end(id, metadata),
        removed: () => this.known.forget(),
      },
      {
        view: savedViewsProjection.name,
        find: async (tenant, limit) =>
          (await this.savedViews.list(tenant, undefined, { limit, offset: 0 })).items.map(({ id }) => id),
        remove: (caller, id) => this.views.change(caller, id, deleteView),
      },
    ]);
  }
}
