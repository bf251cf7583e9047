import type { QueryRunner } from 'typeorm';

/** Deployments that may have something to do, and the logs of builds and deployments. */
export class RolloutTables1763600004000 {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table rollout_duties (
        deployment_id uuid primary key,
        noted bigint not null,
        due_at timestamptz not null default now(),
        failures int not null default 0,
        holder uuid,
        leased_until timestamptz
      ) with (fillfactor = 70)`);
    await queryRunner.query(`
      create table rollout_logs (
        id bigint generated always as identity primary key,
        deployment_id uuid not null,
        revision_id uuid,
        phase text not null,
        level text not null,
        logged_at timestamptz not null,
        message text not null
      )`);
    await queryRunner.query('create index rollout_logs_page on rollout_logs (deployment_id, phase, id)');
    await queryRunner.query('create index rollout_logs_revision on rollout_logs (revision_id, phase, id)');
  }
}
