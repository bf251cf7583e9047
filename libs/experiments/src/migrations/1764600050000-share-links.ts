import type { QueryRunner } from 'typeorm';

/** Links to comparisons and runs, which expire and can hide some of what they show. */
export class ShareLinks1764600050000 {
  readonly name = 'ShareLinks1764600050000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table share_links (
        id uuid primary key,
        tenant_id uuid not null,
        kind text not null,
        dataset_id uuid,
        experiments uuid[] not null,
        run_id uuid,
        hidden text[] not null,
        digest text not null unique,
        created_at timestamptz not null,
        expires_at timestamptz not null
      )`);
    await queryRunner.query('create index share_links_by_tenant on share_links (tenant_id, created_at)');
    await queryRunner.query('create index share_links_by_experiment on share_links using gin (experiments)');
  }
}
