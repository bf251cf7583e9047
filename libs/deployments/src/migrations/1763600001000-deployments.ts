import { opaqueStorage } from '@fairlead/postgres';
import type { QueryRunner } from 'typeorm';

/**
 * The read model of deployments and their revisions. What lists filter and order by is apart from the rendered answers,
 * which change with every event: `deployments` and its indexes are written only when one of its columns changes.
 */
export class DeploymentTables1763600001000 {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('create extension if not exists pg_trgm');
    await queryRunner.query(`
      create table deployments (
        id uuid primary key,
        tenant_id uuid not null,
        created_at timestamptz not null,
        name text not null,
        status text not null,
        deployment_type text,
        listener_id uuid,
        image_version text,
        tag_value_ids uuid[] not null
      ) with (fillfactor = 80)`);
    await queryRunner.query(`
      create table deployment_documents (
        id uuid primary key,
        tenant_id uuid not null,
        version int not null,
        document text not null,
        document_wire text not null,
        state text not null
      ) with (toast_tuple_target = 8160)`);
    await opaqueStorage(queryRunner, 'deployment_documents', ['document', 'document_wire', 'state']);
    await queryRunner.query('create index deployments_page on deployments (tenant_id, created_at desc, id)');
    await queryRunner.query('create index deployments_name on deployments (tenant_id, name)');
    await queryRunner.query('create index deployments_name_contains on deployments using gin (name gin_trgm_ops)');
    await queryRunner.query('create index deployments_tags on deployments using gin (tag_value_ids)');
    await queryRunner.query(`
      create table revisions (
        id uuid primary key,
        deployment_id uuid not null,
        version int not null,
        number int not null,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        status text not null,
        source text not null,
        source_revision_config text not null
      ) with (fillfactor = 90)`);
    await queryRunner.query('create index revisions_page on revisions (deployment_id, number desc)');
  }
}
