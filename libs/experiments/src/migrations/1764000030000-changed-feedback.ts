import type { QueryRunner } from 'typeorm';

/**
 * Adds the changes and deletions of feedback after it was given: rows of uploads can be made again from their bodies,
 * which do not know of them. Configurations of feedback keys get the members that clients set beside them.
 */
export class ChangedFeedback1764000030000 {
  readonly name = 'ChangedFeedback1764000030000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table feedback_changes (
        tenant_id uuid not null,
        id uuid not null,
        session_id uuid not null,
        change text not null,
        deleted boolean not null,
        primary key (tenant_id, id)
      )`);
    await queryRunner.query('create index feedback_changes_by_session on feedback_changes (session_id)');
    await queryRunner.query(`
      alter table feedback_configs add column is_lower_score_better boolean,
        add column modified_at timestamptz not null default now()`);
  }
}
