import type { QueryRunner } from 'typeorm';

/** The ETag of a deployment counts what clients change; the read model is projected anew. */
export class DeploymentEditions1764100000310 {
  async up(queryRunner: QueryRunner): Promise<void> {
    await this.forget(queryRunner);
    await queryRunner.query('alter table deployment_documents add column edition int not null');
  }

  private async forget(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('truncate deployments, deployment_documents, revisions');
    await queryRunner.query(`delete from checkpoints where name = 'deployments.view'`);
  }
}
