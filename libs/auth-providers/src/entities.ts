import { OAuthConnectionEntity, OAuthProviderEntity, OAuthTokenEntity } from './oauth.entity';

/** Describe the tables of OAuth providers, tokens and connections. */
export const authProvidersEntities = [OAuthConnectionEntity, OAuthProviderEntity, OAuthTokenEntity];
