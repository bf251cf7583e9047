import { opaqueStorage } from '@fairlead/postgres';
import type { QueryRunner } from 'typeorm';

/** Deployments are kept once, in the specification's names; the read model is projected anew. */
export class OneSpelling1763700000100 {
  async up(queryRunner: QueryRunner): Promise<void> {
    await this.forget(queryRunner);
    await queryRunner.query(`
      alter table deployment_documents drop column document_wire, drop column state, add column unshown text not null`);
    await opaqueStorage(queryRunner, 'deployment_documents', ['unshown']);
  }

  private async forget(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('truncate deployments, deployment_documents, revisions');
    await queryRunner.query(`delete from checkpoints where name = 'deployments.view'`);
  }
}
