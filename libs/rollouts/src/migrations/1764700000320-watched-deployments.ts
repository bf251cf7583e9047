import type { QueryRunner } from 'typeorm';

/** Has every deployment looked at that was rolled out before: what runs is watched from now on. */
export class WatchedDeployments1764700000320 {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      insert into rollout_duties (deployment_id, noted)
      select distinct deployment_id, 1 from rollout_logs on conflict do nothing`);
  }
}
