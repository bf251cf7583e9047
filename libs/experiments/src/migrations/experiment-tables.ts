import { Migration, opaque } from '@fairlead/postgres';

/** Datasets, their examples by version, sessions (experiments and tracing projects), runs and feedback. */
export class CreateExperiments1763600001000 extends Migration {
  readonly statements = [
    `create table datasets (
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
      )`,
    'create index datasets_by_time on datasets (tenant_id, created_at desc, id)',
    `create table sessions (
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
      )`,
    'create index sessions_by_time on sessions (tenant_id, start_time desc, id)',
    'create index sessions_by_dataset on sessions (reference_dataset_id)',
    'create index sessions_by_payload on sessions (tenant_id, payload_sha256)',
    `create table examples (
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
      )`,
    opaque('examples', ['inputs', 'outputs', 'metadata']),
    `create table runs (
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
      )`,
    'create index runs_by_time on runs (session_id, start_time, id)',
    'create index runs_by_example on runs (example_id)',
    opaque('runs', ['error', 'inputs', 'outputs', 'extra']),
    `create table feedback (
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
      )`,
    'create index feedback_by_session on feedback (session_id, created_at, id)',
    'create index feedback_by_run on feedback (run_id)',
    opaque('feedback', ['value', 'comment', 'correction', 'source_metadata', 'extra']),
    `create table feedback_configs (
        tenant_id uuid not null,
        key text not null,
        config text not null,
        primary key (tenant_id, key)
      )`,
  ];
}

/** Adds the indexes of lists and filters beside the primary keys. */
export class ReadIndexes1763600002000 extends Migration {
  readonly statements = [
    'create extension if not exists pg_trgm',
    // Raw JSON made safe to look into: escapes that PostgreSQL cannot hold are left out, JSON it cannot hold at all is null.
    String.raw`create function searchable_json(source text) returns jsonb language sql immutable strict parallel safe as $$
     select case when pg_input_is_valid(safe, 'jsonb') then safe::jsonb end
     from (select regexp_replace(source,
       '(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})',
       '\1', 'g')) as cleaned(safe) $$`,
    'create index sessions_by_metadata on sessions using gin (metadata jsonb_path_ops)',
    'create index sessions_by_name on sessions using gin (name gin_trgm_ops)',
    'create index datasets_by_name on datasets using gin (name gin_trgm_ops)',
    'create index datasets_by_use on datasets (tenant_id, last_session_start_time desc nulls last, id)',
    'create index examples_by_time on examples (dataset_id, valid_from desc, id)',
    'create index examples_with_metadata on examples (dataset_id) where metadata is not null',
  ];
}

/** Comparative experiments, and what runs have that are sent one by one. */
export class Comparisons1763600003000 extends Migration {
  readonly statements = [
    `create table comparative_experiments (
     id uuid primary key,
     tenant_id uuid not null,
     dataset_id uuid not null,
     name text,
     description text,
     extra text,
     experiment_ids uuid[] not null,
     created_at timestamptz not null,
     modified_at timestamptz not null
   )`,
    'create index comparative_experiments_by_dataset on comparative_experiments (dataset_id, created_at desc, id)',
    'alter table feedback add column comparative_experiment_id uuid',
    `create index feedback_by_comparison on feedback (comparative_experiment_id) where comparative_experiment_id is not null`,
    // Runs that are sent one by one may have parents; null says that a run stands alone.
    `alter table runs add column parent_run_id uuid, add column trace_id uuid, add column dotted_order text,
     add column tags text, add column events text`,
    'create index runs_by_trace on runs (trace_id) where trace_id is not null',
    'create index runs_by_parent on runs (parent_run_id) where parent_run_id is not null',
    opaque('comparative_experiments', ['extra']),
    opaque('runs', ['tags', 'events']),
  ];
}

/** Adds the directions of a dataset's scores: JSON text, null where none were set. */
export class ScoreDirections1763600010100 extends Migration {
  readonly statements = ['alter table datasets add column score_directions text'];
}

const SAFE = String.raw`(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})`;

/** Ids of runs and feedback are unique within a tenant, and metadata that is no jsonb is not searched instead of failing. */
export class IdsByTenant1764000000000 extends Migration {
  readonly statements = [
    // Ids of runs and feedback come from clients: two tenants may use the same one. The id comes first, for lookups by it.
    'alter table runs drop constraint runs_pkey, add constraint runs_pkey primary key (id, tenant_id)',
    'alter table feedback drop constraint feedback_pkey, add constraint feedback_pkey primary key (id, tenant_id)',
    // The planner computes constant parts of an SQL function beforehand, also those that a condition keeps from being
    // computed: the cast then failed where the text is no jsonb. PL/pgSQL computes a statement when it comes to it.
    String.raw`create or replace function searchable_json(source text) returns jsonb
     language plpgsql immutable strict parallel safe as $$
     declare
       safe text := regexp_replace(source, '${SAFE}', '\1', 'g');
     begin
       if not pg_input_is_valid(safe, 'jsonb') then
         return null;
       end if;
       return safe::jsonb;
     end $$`,
  ];
}

/**
 * Adds the members that clients set of datasets and examples, the versions that changes of examples make, their tags,
 * and the payloads that datasets need: the last is no read model, so that a replay keeps it.
 */
export class DatasetChanges1764200020100 extends Migration {
  readonly statements = [
    'alter table datasets add column inputs_schema text, add column outputs_schema text',
    'alter table examples add column source_run_id uuid, add column attachments jsonb',
    opaque('datasets', ['inputs_schema', 'outputs_schema']),
    `create table dataset_versions (
        dataset_id uuid not null,
        as_of timestamptz not null,
        primary key (dataset_id, as_of)
      )`,
    `create table dataset_tags (
        dataset_id uuid not null,
        tag text not null,
        as_of timestamptz not null,
        primary key (dataset_id, tag)
      )`,
    `create table payload_datasets (
        tenant_id uuid not null,
        sha256 text not null,
        dataset_id uuid not null,
        primary key (tenant_id, sha256, dataset_id)
      )`,
  ];
}

/** The experiment that the others on a dataset are compared with, null where none was chosen. */
export class DatasetBaselines1764600020000 extends Migration {
  readonly statements = ['alter table datasets add column baseline_experiment_id uuid'];
}

/**
 * Examples keep the order of the request that made them. Those of earlier uploads get it from their runs; those that were
 * added one by one have it after the tables have been made again from the log.
 */
export class ExampleOrder1764800000000 extends Migration {
  readonly statements = [
    'alter table examples add column sequence integer not null default 0',
    'drop index examples_by_time',
    `update examples e set sequence = made.place
      from (
        select r.dataset_id, r.example_id, r.example_from, min(r.row_number) as place
        from runs r join sessions s on s.id = r.session_id and s.payload_sha256 is not null
        group by r.dataset_id, r.example_id, r.example_from
      ) made
      where (e.dataset_id, e.id, e.created_at) = (made.dataset_id, made.example_id, made.example_from) and made.place > 0`,
    'create index examples_by_time on examples (dataset_id, valid_from desc, sequence)',
  ];
}
