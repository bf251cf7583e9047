import type { QueryRunner } from 'typeorm';

/**
 * Adds the number and age of unsealed events, and a signature over the position up to which the log has been hashed.
 */
export class LogHeads1763900000600 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table log_hashes
        add column unsealed int not null default 0,
        add column unsealed_since timestamptz,
        add column key_id text,
        add column signature text`);
  }
}
