import type { QueryRunner } from 'typeorm';

/** Adds the status of a workspace: active, suspended or removed. All existing workspaces are active. */
export class TenantStatuses1764300000220 {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `alter table tenants add column status text not null default 'active', add column status_since timestamptz`,
    );
    await queryRunner.query('update tenants set status_since = created_at');
    await queryRunner.query(
      'alter table tenants alter column status drop default, alter column status_since set not null',
    );
  }
}
