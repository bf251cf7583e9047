import type { QueryRunner } from 'typeorm';

const SAFE = String.raw`(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})`;

const STATEMENTS = [
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

/** Ids of runs and feedback are unique within a tenant, and metadata that is no jsonb is not searched instead of failing. */
export class IdsByTenant1764000000000 {
  readonly name = 'IdsByTenant1764000000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await queryRunner.query(statement);
  }
}
