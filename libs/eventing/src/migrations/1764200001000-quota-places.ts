import type { QueryRunner } from 'typeorm';

/** Creates the table of things that count against the quotas of workspaces; `sure` once the log says so. */
export class QuotaPlaces1764200001000 {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table quota_places (
        kind text not null,
        id text not null,
        tenant_id uuid not null,
        taken_at timestamptz not null default now(),
        sure boolean not null default false,
        primary key (kind, id)
      )`);
    await queryRunner.query('create index quota_places_tenant on quota_places (tenant_id, kind)');
  }
}
