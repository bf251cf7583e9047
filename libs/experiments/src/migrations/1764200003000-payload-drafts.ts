import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Uploaded bodies of which a part is stored while the rest comes slowly: what is never kept is swept. */
export class PayloadDrafts1764200003000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table payload_drafts (
        id uuid primary key,
        touched_at timestamptz not null default clock_timestamp()
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop table payload_drafts');
  }
}
