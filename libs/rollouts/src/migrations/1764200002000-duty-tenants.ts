import type { QueryRunner } from 'typeorm';

/** Notes whose deployment a duty is, so that workspaces share the places for rollouts; unknown for earlier duties. */
export class DutyTenants1764200002000 {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table rollout_duties add column tenant_id text');
  }
}
