import type { QueryRunner } from 'typeorm';

/** Runs of uploaded experiments that a further upload replaced, and the feedback on them. */
export class ReplacedRuns1764900050000 {
  readonly name = 'ReplacedRuns1764900050000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table replaced_runs (
        tenant_id uuid not null,
        id uuid not null,
        session_id uuid not null,
        dataset_id uuid,
        example_id uuid,
        example_from timestamptz,
        name text not null,
        run_type text not null,
        start_time timestamptz not null,
        end_time timestamptz,
        status text not null,
        error text,
        inputs text,
        outputs text,
        extra text,
        row_number integer not null,
        replaced_by uuid not null,
        replaced_at timestamptz not null,
        primary key (tenant_id, id)
      )`);
    await queryRunner.query('create index replaced_runs_by_session on replaced_runs (session_id, replaced_at, id)');
    await queryRunner.query(`
      create table replaced_feedback (
        tenant_id uuid not null,
        id uuid not null,
        session_id uuid not null,
        run_id uuid not null,
        key text not null,
        score double precision,
        score_sent text,
        value text,
        comment text,
        correction text,
        source_type text not null,
        source_metadata text,
        extra text,
        created_at timestamptz not null,
        modified_at timestamptz not null,
        comparative_experiment_id uuid,
        primary key (tenant_id, id)
      )`);
    await queryRunner.query('create index replaced_feedback_by_session on replaced_feedback (session_id)');
    await queryRunner.query('create index replaced_feedback_by_run on replaced_feedback (run_id)');
    await queryRunner.query('alter table persisted_experiments add column fills integer not null default 0');
  }
}
