import type { QueryRunner } from 'typeorm';

/** Feedback that waits for its run until others can be told of it; of what was sent before, nobody is told. */
export class UntoldFeedback1764000020000 {
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
}
