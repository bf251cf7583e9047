import type { QueryRunner } from 'typeorm';

/** What is not sealed yet, and a signature over how far the log has been hashed. */
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
