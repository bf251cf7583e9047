import { Idempotency } from '@fairlead/api';
import {
  AppendTooLarge,
  Followers,
  QuotaReached,
  Quotas,
  Vault,
  VersionMismatch,
  WorkspaceRemovals,
  WorkspaceStopped,
} from '@fairlead/eventing';
import {
  BadGateway,
  BadRequest,
  Conflict,
  GatewayTimeout,
  HttpProblem,
  mapError,
  NotFound,
  PreconditionFailed,
  Forbidden,
} from '@fairlead/schema';
import { type DynamicModule, Module, type OnModuleInit } from '@nestjs/common';
import { Pool } from 'pg';
import { AuthProvidersOptions } from './auth-providers.options';
import { AuthorizationController } from './authorization.controller';
import { AuthorizationFlow } from './authorization.flow';
import { AuthorizationStore } from './authorization.store';
import { AuthorizationWaits } from './authorization.waits';
import {
  AuthorizationRefused,
  ConnectionNotFound,
  InvalidProvider,
  ProviderFailed,
  ProviderIdTaken,
  ProviderNotFound,
  TokenNotFound,
} from './errors';
import { McpDiscovery } from './mcp.discovery';
import { OAuthClient } from './oauth.client';
import { OAuthQueries } from './oauth.queries';
import { OAuthRemover } from './oauth.remover';
import { OAuthView } from './oauth.view';
import { ProviderCommands } from './provider.commands';
import { ProvidersController } from './providers.controller';
import { TokenRefresher } from './token.refresher';
import { TokensController } from './tokens.controller';

mapError(ProviderNotFound, ({ message }) => new NotFound(message));
mapError(TokenNotFound, ({ message }) => new NotFound(message));
mapError(ConnectionNotFound, ({ message }) => new NotFound(message));
mapError(ProviderIdTaken, ({ message }) => new Conflict(message));
mapError(InvalidProvider, ({ message }) => new BadRequest(message));
mapError(AuthorizationRefused, ({ message }) => new BadRequest(message));
mapError(ProviderFailed, ({ message, fault }) =>
  fault === 'slow' ? new GatewayTimeout(message) : new BadGateway(message),
);
mapError(AppendTooLarge, ({ message }) => new HttpProblem(413, message));
mapError(WorkspaceStopped, ({ message }) => new Forbidden(message));
mapError(QuotaReached, ({ message }) => new Conflict(message));
mapError(VersionMismatch, () => new PreconditionFailed());

/** OAuth providers, sign-ins through them, and the tokens that come of it. Needs the providers of EventingModule. */
@Module({})
export class AuthProvidersModule implements OnModuleInit {
  constructor(
    private readonly followers: Followers,
    private readonly quotas: Quotas,
    private readonly removals: WorkspaceRemovals,
    private readonly remover: OAuthRemover,
    private readonly view: OAuthView,
  ) {}

  static with(options: AuthProvidersOptions): DynamicModule {
    return {
      module: AuthProvidersModule,
      controllers: [ProvidersController, AuthorizationController, TokensController],
      providers: [
        { provide: AuthProvidersOptions, useValue: options },
        ProviderCommands,
        OAuthClient,
        OAuthQueries,
        OAuthView,
        OAuthRemover,
        McpDiscovery,
        AuthorizationFlow,
        AuthorizationStore,
        AuthorizationWaits,
        TokenRefresher,
        {
          provide: Idempotency,
          useFactory: (pool: Pool, vault: Vault) => new Idempotency(pool, (text) => vault.digest('idempotency', text)),
          inject: [Pool, Vault],
        },
      ],
    };
  }

  onModuleInit(): void {
    this.removals.register('oauth_providers', (tenant) => this.remover.remove(tenant));
    this.quotas.count('oauth_providers', 'OAuthProviderAdded', 'OAuthProviderRemoved');
    this.followers.register(this.view);
  }
}
