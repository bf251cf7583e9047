import { Migration } from '@fairlead/postgres';

/** Read models of tenants and API keys. */
export class AccessTables1763600000200 extends Migration {
  readonly statements = [
    `create table tenants (
        id uuid primary key,
        organization_id uuid not null,
        display_name text not null,
        tenant_handle text,
        created_at timestamptz not null,
        version int not null
      )`,
    'create index on tenants (organization_id)',
    `create table api_keys (
        id uuid primary key,
        kind text not null,
        tenant_id uuid,
        organization_id uuid not null,
        description text not null,
        scopes text[] not null,
        short_key text not null,
        hash text not null,
        created_at timestamptz not null,
        expires_at timestamptz,
        revoked_at timestamptz,
        version int not null
      )`,
    'create index on api_keys (organization_id, created_at)',
  ];
}

/**
 * Keys know their makers, and reading the tokens of people has a scope of its own, which the keys there are keep if they
 * may write. The same as `factsOf` makes of the events of those keys.
 */
export class KeyMakers1764100000210 extends Migration {
  readonly statements = [
    'alter table api_keys add column made_by uuid',
    'create index on api_keys (made_by)',
    `update api_keys set scopes = array_append(scopes, 'tokens:read')
      where scopes && array['write', 'admin'] and not 'tokens:read' = any(scopes)`,
  ];
}

/** Adds the status of a workspace: active, suspended or removed. All existing workspaces are active. */
export class TenantStatuses1764300000220 extends Migration {
  readonly statements = [
    `alter table tenants add column status text not null default 'active', add column status_since timestamptz`,
    'update tenants set status_since = created_at',
    'alter table tenants alter column status drop default, alter column status_since set not null',
  ];
}

/** Browsers that are signed in to the console. */
export class ConsoleSessions1764600000230 extends Migration {
  readonly statements = [
    `create table console_sessions (
        id uuid primary key,
        key_id uuid not null,
        key_hash text not null,
        tenant_id uuid not null,
        organization_id uuid not null,
        hash text not null,
        address text not null,
        created_at timestamptz not null,
        used_at timestamptz not null,
        expires_at timestamptz not null,
        ended_at timestamptz,
        version int not null
      )`,
    'create index on console_sessions (key_id)',
    'create index on console_sessions (expires_at)',
  ];
}

/** Views of lists that were saved under a name: their states. */
export class SavedViews1764900063100 extends Migration {
  readonly statements = [
    `create table saved_views (
        tenant_id uuid not null,
        id uuid not null,
        version int not null,
        page text not null,
        state text not null,
        primary key (tenant_id, id)
      )`,
  ];
}
