import { opaqueStorage } from '@fairlead/postgres';
import type { QueryRunner } from 'typeorm';

/**
 * Adds the members that clients set of datasets and examples, the versions that changes of examples make, their tags,
 * and the payloads that datasets need: the last is no read model, so that a replay keeps it.
 */
export class DatasetChanges1764200020100 {
  readonly name = 'DatasetChanges1764200020100';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table datasets add column inputs_schema text, add column outputs_schema text');
    await queryRunner.query('alter table examples add column source_run_id uuid, add column attachments jsonb');
    await opaqueStorage(queryRunner, 'datasets', ['inputs_schema', 'outputs_schema']);
    await queryRunner.query(`
      create table dataset_versions (
        dataset_id uuid not null,
        as_of timestamptz not null,
        primary key (dataset_id, as_of)
      )`);
    await queryRunner.query(`
      create table dataset_tags (
        dataset_id uuid not null,
        tag text not null,
        as_of timestamptz not null,
        primary key (dataset_id, tag)
      )`);
    await queryRunner.query(`
      create table payload_datasets (
        tenant_id uuid not null,
        sha256 text not null,
        dataset_id uuid not null,
        primary key (tenant_id, sha256, dataset_id)
      )`);
  }
}
