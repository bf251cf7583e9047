import type { QueryRunner } from 'typeorm';

/** Which deployments a push of an integration's code host can concern. */
export class PushTargets1763600003500 {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('create table push_targets (deployment_id uuid primary key, integration_id uuid not null)');
    await queryRunner.query('create index push_targets_integration on push_targets (integration_id)');
  }
}
