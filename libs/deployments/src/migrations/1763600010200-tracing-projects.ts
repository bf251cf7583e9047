import type { QueryRunner } from 'typeorm';

/** When runs were last sent to the sessions that bear the name of a deployment, or may come to bear it. */
export class TracingProjects1763600010200 {
  readonly name = 'TracingProjects1763600010200';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `create table tracing_projects (
         id uuid primary key,
         tenant_id uuid not null,
         name text not null,
         used_at timestamptz not null
       )`,
    );
    await queryRunner.query('create index tracing_projects_by_name on tracing_projects (tenant_id, name)');
  }
}
