import type { QueryRunner } from 'typeorm';

/** Finds the deployments of one repository of an integration. */
export class PushTargetRepositories1764500000100 {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("alter table push_targets add column repository text not null default ''");
    await queryRunner.query(`
      update push_targets p set repository = regexp_replace(regexp_replace(
        lower(d.document::json -> 'source_config' ->> 'repo_url'), '/+$', ''), '\\.git$', '')
      from deployment_documents d
      where d.id = p.deployment_id and d.document::json -> 'source_config' ->> 'repo_url' is not null`);
    await queryRunner.query('drop index push_targets_integration');
    await queryRunner.query('create index push_targets_integration on push_targets (integration_id, repository)');
  }
}
