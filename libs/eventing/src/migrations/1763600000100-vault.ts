import type { QueryRunner } from 'typeorm';

/** One data key per subject, wrapped by the master key `key_id`. Deleting a row makes what it sealed unreadable for ever. */
export class VaultTables1763600000100 {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table data_keys (
        subject text primary key,
        key_id text not null,
        wrapped bytea not null,
        created_at timestamptz not null default now()
      )`);
  }
}
