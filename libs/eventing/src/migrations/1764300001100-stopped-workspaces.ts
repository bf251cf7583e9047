import type { QueryRunner } from 'typeorm';

/** Workspaces that are suspended or removed, and how far the removal of each has come. */
export class StoppedWorkspaces1764300001100 {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table stopped_workspaces (
        tenant_id uuid primary key,
        status text not null,
        since timestamptz not null
      )`);
    await queryRunner.query(`
      create table workspace_removals (
        tenant_id uuid not null,
        part text not null,
        leased_until timestamptz,
        done_at timestamptz,
        primary key (tenant_id, part)
      )`);
  }
}
