import type { QueryRunner } from 'typeorm';

/** Read models of tenants and API keys. */
export class AccessTables1763600000200 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table tenants (
        id uuid primary key,
        organization_id uuid not null,
        display_name text not null,
        tenant_handle text,
        created_at timestamptz not null,
        version int not null
      )`);
    await runner.query('create index on tenants (organization_id)');
    await runner.query(`
      create table api_keys (
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
      )`);
    await runner.query('create index on api_keys (organization_id, created_at)');
  }
}
