import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What is not sealed yet, and a signature over how far the log has been hashed. */
export class LogHeads1763900000600 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table log_hashes
        add column unsealed int not null default 0,
        add column unsealed_since timestamptz,
        add column key_id text,
        add column signature text`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table log_hashes drop column unsealed, drop column unsealed_since, drop column key_id, drop column signature`);
  }
}
