import type { QueryRunner } from 'typeorm';

/** Uploaded bodies as sent (decompressed), in chunks, one per tenant and content. */
export class CreatePayloads1763600000000 {
  readonly name = 'CreatePayloads1763600000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table payloads (
        id uuid primary key,
        tenant_id uuid not null,
        sha256 text not null,
        bytes bigint not null,
        created_at timestamptz not null default now(),
        unique (tenant_id, sha256)
      )`);
    await queryRunner.query(`
      create table payload_chunks (
        payload_id uuid not null,
        number integer not null,
        data bytea not null,
        primary key (payload_id, number)
      )`);
    // A chunk fills a page of its own: half the cost of what would be moved out of line.
    await queryRunner.query('alter table payload_chunks alter column data set storage plain');
    await queryRunner.query(`
      create table persisted_experiments (
        session_id uuid primary key,
        statistics text not null
      )`);
  }
}
