import type { QueryRunner } from 'typeorm';

/** Browsers that are signed in to the console. */
export class ConsoleSessions1764600000230 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table console_sessions (
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
      )`);
    await runner.query('create index on console_sessions (key_id)');
    await runner.query('create index on console_sessions (expires_at)');
  }
}
