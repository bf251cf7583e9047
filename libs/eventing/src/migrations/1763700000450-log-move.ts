import type { QueryRunner } from 'typeorm';

/**
 * The one row that says that the log was moved, or is being moved, to another store, and the function that refuses
 * appends to a log that was moved once a trigger calls it.
 */
export class LogMove1763700000450 {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table log_move (
        single boolean primary key default true check (single),
        store text not null,
        finished timestamptz
      );
      create function refuse_moved_log() returns trigger language plpgsql as $$
      begin
        raise exception 'The log was moved to another store.' using errcode = '57P03';
      end
      $$`);
  }
}
