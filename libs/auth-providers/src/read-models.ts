import type { ReadModel, Vault } from '@fairlead/eventing';
import { OAuthView } from './oauth.projection';

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
