import type { ReadModel, Vault } from '@fairlead/eventing';
import { OAuthConnectionEntity, OAuthProviderEntity, OAuthTokenEntity } from './oauth/oauth.entity';
import { OAuthTables1763600003000 } from './migrations/oauth-tables';
import { OAuthView } from './oauth/oauth.projection';

/** Describe the tables of OAuth providers, tokens and connections. */
export const authProvidersEntities = [OAuthConnectionEntity, OAuthProviderEntity, OAuthTokenEntity];

/** Tables of OAuth providers, their tokens and running authorisations. */
export const authProvidersMigrations = [OAuthTables1763600003000];

/** The tables of this domain that can be made again from the log. */
export function authProvidersReadModels(vault: Vault): ReadModel[] {
  return [
    {
      name: 'oauth',
      tables: ['oauth_providers', 'oauth_tokens', 'oauth_connections'],
      projections: () => [new OAuthView(vault)],
    },
  ];
}
