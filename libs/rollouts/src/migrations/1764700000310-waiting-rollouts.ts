import type { QueryRunner } from 'typeorm';

/** Notes which rollouts only wait: they take none of the places of their workspace. */
export class WaitingRollouts1764700000310 {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table rollout_duties add column waits boolean not null default false');
  }
}
