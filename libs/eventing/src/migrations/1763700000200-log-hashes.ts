import type { QueryRunner } from 'typeorm';

/** Creates the table of the position up to which the log has been hashed for its next seal. */
export class LogHashes1763700000200 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table log_hashes (
        id int primary key check (id = 1),
        "position" bigint not null,
        count bigint not null,
        hash text not null,
        day text
      )`);
  }
}
