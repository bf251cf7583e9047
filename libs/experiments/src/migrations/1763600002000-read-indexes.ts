import type { QueryRunner } from 'typeorm';

const STATEMENTS = [
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

/** Adds the indexes of lists and filters beside the primary keys. */
export class ReadIndexes1763600002000 {
  readonly name = 'ReadIndexes1763600002000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await queryRunner.query(statement);
  }
}
