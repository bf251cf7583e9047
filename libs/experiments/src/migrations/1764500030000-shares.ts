import type { QueryRunner } from 'typeorm';

/** Runs and datasets that whoever has a token may read. A token is sealed, and recognised by its digest. */
export class Shares1764500030000 {
  readonly name = 'Shares1764500030000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table shares (
        id uuid primary key,
        tenant_id uuid not null,
        kind text not null,
        subject_id uuid not null,
        session_id uuid,
        token jsonb not null,
        digest text not null unique,
        shared_at timestamptz not null
      )`);
    await queryRunner.query('create index shares_by_subject on shares (tenant_id, kind, subject_id)');
    await queryRunner.query('create index shares_by_session on shares (session_id)');
  }
}
