import { opaqueStorage } from '@fairlead/postgres';
import type { QueryRunner } from 'typeorm';

/** Datasets, their examples by version, sessions (experiments and tracing projects), runs and feedback. */
export class CreateExperiments1763600001000 {
  readonly name = 'CreateExperiments1763600001000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table datasets (
        id uuid primary key,
        tenant_id uuid not null,
        name text not null,
        description text,
        created_at timestamptz not null,
        modified_at timestamptz not null,
        externally_managed boolean not null,
        data_type text not null default 'kv',
        example_count integer not null default 0,
        session_count integer not null default 0,
        last_session_start_time timestamptz,
        metadata text,
        version integer not null,
        unique (tenant_id, name)
      )`);
    await queryRunner.query('create index datasets_by_time on datasets (tenant_id, created_at desc, id)');
    await queryRunner.query(`
      create table sessions (
        id uuid primary key,
        tenant_id uuid not null,
        name text not null,
        description text,
        start_time timestamptz not null,
        end_time timestamptz,
        extra text,
        metadata jsonb,
        reference_dataset_id uuid,
        default_dataset_id uuid,
        trace_tier text,
        test_run_number integer,
        created_at timestamptz not null,
        persisted boolean not null default false,
        payload_sha256 text,
        run_count integer,
        latency_p50 double precision,
        latency_p99 double precision,
        error_rate double precision,
        last_run_start_time timestamptz,
        feedback_stats text,
        session_feedback_stats text,
        version integer not null,
        unique (tenant_id, name)
      )`);
    await queryRunner.query('create index sessions_by_time on sessions (tenant_id, start_time desc, id)');
    await queryRunner.query('create index sessions_by_dataset on sessions (reference_dataset_id)');
    await queryRunner.query('create index sessions_by_payload on sessions (tenant_id, payload_sha256)');
    await queryRunner.query(`
      create table examples (
        id uuid not null,
        dataset_id uuid not null,
        tenant_id uuid not null,
        valid_from timestamptz not null,
        valid_to timestamptz,
        created_at timestamptz not null,
        name text not null,
        inputs text not null,
        outputs text,
        metadata text,
        -- What tells a changed example without reading it.
        inputs_md5 uuid generated always as (md5(inputs)::uuid) stored,
        outputs_md5 uuid generated always as (md5(outputs)::uuid) stored,
        primary key (id, dataset_id, valid_from)
      )`);
    await opaqueStorage(queryRunner, 'examples', ['inputs', 'outputs', 'metadata']);
    await queryRunner.query(`
      create table runs (
        id uuid primary key,
        tenant_id uuid not null,
        session_id uuid not null,
        dataset_id uuid,
        example_id uuid,
        example_from timestamptz,
        name text not null,
        run_type text not null,
        start_time timestamptz not null,
        end_time timestamptz,
        status text not null,
        error text,
        inputs text,
        outputs text,
        extra text,
        row_number integer not null
      )`);
    await queryRunner.query('create index runs_by_time on runs (session_id, start_time, id)');
    await queryRunner.query('create index runs_by_example on runs (example_id)');
    await opaqueStorage(queryRunner, 'runs', ['error', 'inputs', 'outputs', 'extra']);
    await queryRunner.query(`
      create table feedback (
        id uuid primary key,
        tenant_id uuid not null,
        session_id uuid not null,
        run_id uuid,
        key text not null,
        score double precision,
        value text,
        comment text,
        correction text,
        source_type text not null,
        source_metadata text,
        extra text,
        created_at timestamptz not null,
        modified_at timestamptz not null
      )`);
    await queryRunner.query('create index feedback_by_session on feedback (session_id, created_at, id)');
    await queryRunner.query('create index feedback_by_run on feedback (run_id)');
    await opaqueStorage(queryRunner, 'feedback', ['value', 'comment', 'correction', 'source_metadata', 'extra']);
    await queryRunner.query(`
      create table feedback_configs (
        tenant_id uuid not null,
        key text not null,
        config text not null,
        primary key (tenant_id, key)
      )`);
  }
}
