import { Migration } from '@fairlead/postgres';

/**
 * `oauth_providers` and `oauth_tokens` are read models; their states hold secrets only as the vault sealed them.
 * `oauth_authorizations` and `oauth_refreshes` are short-lived facts about work under way: a state that is used once,
 * and who refreshes a token right now.
 */
export class OAuthTables1763600003000 extends Migration {
  readonly statements = [
    `create table oauth_providers (
        id uuid primary key,
        tenant_id uuid not null,
        created_at timestamptz not null,
        state text not null
      )`,
    'create index oauth_providers_list on oauth_providers (tenant_id, created_at, id)',
    `create table oauth_tokens (
        id uuid primary key,
        tenant_id uuid not null,
        provider uuid not null,
        user_id text,
        is_default boolean not null,
        created_at timestamptz not null,
        state text not null
      )`,
    'create index oauth_tokens_list on oauth_tokens (tenant_id, provider, created_at)',
    'create index oauth_tokens_provider on oauth_tokens (provider)',
    `create table oauth_connections (
        id uuid primary key,
        tenant_id uuid not null,
        agent_id text not null,
        token_id uuid not null references oauth_tokens on delete cascade,
        created_at timestamptz not null
      )`,
    'create index oauth_connections_list on oauth_connections (tenant_id, agent_id)',
    'create index oauth_connections_token on oauth_connections (token_id)',
    `create table oauth_authorizations (
        id uuid primary key,
        tenant_id uuid not null,
        provider uuid not null,
        state_hash bytea not null unique,
        verifier text,
        redirect_uri text not null,
        token_id uuid not null,
        user_id text,
        agent_id text,
        scopes text[] not null,
        is_default boolean not null,
        requested_by text not null,
        expires_at timestamptz not null,
        status text not null default 'pending',
        problem text
      )`,
    'create index oauth_authorizations_old on oauth_authorizations (expires_at)',
    `create table oauth_refreshes (
        token_id uuid primary key,
        holder uuid not null,
        leased_until timestamptz not null
      )`,
  ];
}
