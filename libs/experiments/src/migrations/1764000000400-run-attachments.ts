import type { QueryRunner } from 'typeorm';

/** Attachments of runs, and which sessions need a payload: the second is no read model, so that a replay keeps it. */
export class RunAttachments1764000000400 {
  readonly name = 'RunAttachments1764000000400';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table run_attachments (
        tenant_id uuid not null,
        run_id uuid not null,
        name text not null,
        session_id uuid not null,
        type text not null,
        sha256 text not null,
        bytes bigint not null,
        primary key (tenant_id, run_id, name)
      )`);
    await queryRunner.query('create index run_attachments_by_session on run_attachments (session_id)');
    await queryRunner.query(`
      create table payload_sessions (
        tenant_id uuid not null,
        sha256 text not null,
        session_id uuid not null,
        primary key (tenant_id, sha256, session_id)
      )`);
  }
}
