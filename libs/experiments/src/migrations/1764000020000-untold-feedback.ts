import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Feedback that waits for its run until others can be told of it; of what was sent before, nobody is told. */
export class UntoldFeedback1764000020000 implements MigrationInterface {
  readonly name = 'UntoldFeedback1764000020000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table untold_feedback (
        tenant_id uuid not null,
        run_id uuid not null,
        id uuid not null,
        data text not null,
        primary key (run_id, tenant_id, id)
      )`);
    await queryRunner.query(`
      insert into checkpoints (name, "position")
      select 'awaited-feedback', "position" from checkpoints where name = 'experiments-view'
      on conflict do nothing`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop table untold_feedback');
    await queryRunner.query(`delete from checkpoints where name = 'awaited-feedback'`);
  }
}
