import { Idempotency } from '@fairlead/api';
import { type Caller, Followers, Quotas, Vault, WorkspaceRemovals } from '@fairlead/eventing';
import { type DynamicModule, Module, type OnModuleInit } from '@nestjs/common';
import { Pool } from 'pg';
import { AuthProvidersOptions } from './oauth/auth-providers.options';
import { AuthorizationController } from './sign-in/authorization.controller';
import { AuthorizationService } from './sign-in/authorization.service';
import { AuthorizationStore } from './sign-in/authorization.store';
import { AuthorizationWaits } from './sign-in/authorization-waits.service';
import { TokenAccess } from './sign-in/token-access.service';
import { McpDiscovery } from './provider/mcp-discovery.client';
import { OAuthClient } from './oauth/oauth.client';
import { OAuthQueries } from './oauth/oauth.queries';
import { OAUTH_VIEW, OAuthView } from './oauth/oauth.projection';
import { ProviderCommands } from './provider/provider.commands';
import { ProvidersController } from './provider/providers.controller';
import { TokenCommands } from './token/token.commands';
import { TokenService } from './token/token.service';
import { TokensController } from './token/tokens.controller';

/** OAuth providers, sign-ins through them, and the tokens that come of it. Needs the providers of EventingModule. */
@Module({})
export class AuthProvidersModule implements OnModuleInit {
  constructor(
    private readonly followers: Followers,
    private readonly quotas: Quotas,
    private readonly removals: WorkspaceRemovals,
    private readonly providers: ProviderCommands,
    private readonly queries: OAuthQueries,
    private readonly pool: Pool,
    private readonly view: OAuthView,
  ) {}

  static register(options: AuthProvidersOptions): DynamicModule {
    return {
      module: AuthProvidersModule,
      controllers: [ProvidersController, AuthorizationController, TokensController],
      providers: [
        { provide: AuthProvidersOptions, useValue: options },
        ProviderCommands,
        OAuthClient,
        OAuthQueries,
        OAuthView,
        McpDiscovery,
        AuthorizationService,
        AuthorizationStore,
        AuthorizationWaits,
        TokenAccess,
        TokenCommands,
        TokenService,
        Idempotency.hashedBy(Vault),
      ],
    };
  }

  onModuleInit(): void {
    const providers = {
      view: OAUTH_VIEW,
      find: async (tenant: string, limit: number) =>
        (await this.queries.providers(tenant)).slice(0, limit).map(({ id }) => id),
      remove: (caller: Caller, id: string) => this.providers.remove(caller, id),
    };
    this.removals.register('oauth_providers', 'system:auth-providers', [providers], async (tenant) => {
      await this.pool.query('delete from oauth_authorizations where tenant_id = $1', [tenant]);
      return 0;
    });
    this.quotas.count('oauth_providers', 'OAuthProviderAdded', 'OAuthProviderRemoved');
    this.followers.register(this.view);
  }
}
