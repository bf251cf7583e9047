import type { QueryRunner } from 'typeorm';

/** Uploaded source archives in chunks, and the read model of listeners. */
export class SourceArchives1763600004100 {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table source_archives (
        id uuid primary key,
        deployment_id uuid not null,
        path text not null,
        bytes bigint not null,
        sha256 text not null,
        created_at timestamptz not null default now(),
        unique (deployment_id, path)
      )`);
    await queryRunner.query(`
      create table source_archive_chunks (
        archive_id uuid not null,
        number int not null,
        data bytea not null,
        primary key (archive_id, number)
      )`);
    // Archives are compressed already.
    await queryRunner.query('alter table source_archive_chunks alter column data set storage external');
    await queryRunner.query(`
      create table listeners (
        id uuid primary key,
        tenant_id uuid not null,
        created_at timestamptz not null,
        record text not null
      )`);
    await queryRunner.query('create index listeners_page on listeners (tenant_id, created_at desc, id)');
  }
}
