import { OAuthTables1763600003000 } from './1763600003000-oauth';

/** Tables of OAuth providers, their tokens and running authorisations. */
export const authProvidersMigrations = [OAuthTables1763600003000];
