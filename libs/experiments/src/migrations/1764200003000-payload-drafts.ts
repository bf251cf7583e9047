import type { QueryRunner } from 'typeorm';

/** Uploaded bodies of which a part is stored while the rest comes slowly: what is never kept is swept. */
export class PayloadDrafts1764200003000 {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table payload_drafts (
        id uuid primary key,
        touched_at timestamptz not null default clock_timestamp()
      )`);
  }
}
