import { type DynamicModule, Module, type OnModuleInit } from '@nestjs/common';
import {
  AppendTooLarge,
  Followers,
  QuotaReached,
  Quotas,
  stoppedWorkspacesProjection,
  WorkspaceRemovals,
  WorkspaceStopped,
} from '@fairlead/eventing';
import { BadRequest, Conflict, Forbidden, HttpProblem, mapError, NotFound } from '@fairlead/schema';
import { Authenticator } from './access.authenticator';
import { AccessOptions } from './access.options';
import { endsWith, GrantNotHeld, KeyNotFound, LastAdminKey, UselessKey } from './api-key';
import { ApiKeysController } from './api-keys.controller';
import { ParkedSubjectsController } from './parked-subjects.controller';
import { apiKeysProjection, ApiKeyView } from './api-key.view';
import { KeyRemover } from './key.remover';
import { TenantExists, TenantNotFound, TenantStays } from './tenant';
import { TenantsController } from './tenants.controller';
import { tenantsProjection, TenantView } from './tenant.view';
import { WorkspacesController } from './workspaces.controller';

mapError(AppendTooLarge, ({ message }) => new HttpProblem(413, message));
mapError(QuotaReached, ({ message }) => new Conflict(message));
mapError(TenantExists, ({ message }) => new Conflict(message));
mapError(WorkspaceStopped, ({ message }) => new Forbidden(message));
mapError(TenantStays, ({ message }) => new Conflict(message));
mapError(TenantNotFound, ({ message }) => new NotFound(message));
mapError(GrantNotHeld, () => new Forbidden());
mapError(UselessKey, ({ message }) => new BadRequest(message));
mapError(KeyNotFound, ({ message }) => new NotFound(message));
mapError(LastAdminKey, ({ message }) => new Conflict(message));

/** Tenants, API keys and who may do what. */
@Module({})
export class AccessModule implements OnModuleInit {
  constructor(
    private readonly followers: Followers,
    private readonly quotas: Quotas,
    private readonly removals: WorkspaceRemovals,
    private readonly keys: KeyRemover,
  ) {}

  static with(options = new AccessOptions()): DynamicModule {
    return {
      module: AccessModule,
      controllers: [ApiKeysController, ParkedSubjectsController, TenantsController, WorkspacesController],
      providers: [{ provide: AccessOptions, useValue: options }, Authenticator, ApiKeyView, KeyRemover, TenantView],
      exports: [Authenticator],
    };
  }

  onModuleInit(): void {
    this.quotas.count('api_keys', 'ApiKeyCreated', 'ApiKeyRevoked', endsWith);
    this.followers.register(tenantsProjection);
    this.followers.register(apiKeysProjection);
    this.followers.register(stoppedWorkspacesProjection);
    this.removals.register('api_keys', (tenant) => this.keys.remove(tenant));
  }
}
