import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How far the log has been hashed for its next seal. */
export class LogHashes1763700000200 implements MigrationInterface {
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

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table log_hashes');
    await runner.query(`delete from checkpoints where name = 'log.seals'`);
  }
}
