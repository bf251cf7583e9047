import type { QueryRunner } from 'typeorm';

/** The agent that a deployment was created for, and the environment. */
export class DeploymentAgents1763900000100 {
  readonly name = 'DeploymentAgents1763900000100';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table deployments add column agent_id text, add column agent_environment text');
    await queryRunner.query(
      `create index deployments_agent on deployments (tenant_id, agent_id, agent_environment) where agent_id is not null`,
    );
  }
}
