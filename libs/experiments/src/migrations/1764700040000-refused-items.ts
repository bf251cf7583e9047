import type { QueryRunner } from 'typeorm';

/** Runs, feedback and attachments that were refused while others of their request were stored, summed by reason. */
export class RefusedItems1764700040000 {
  readonly name = 'RefusedItems1764700040000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table refused_items (
        tenant_id uuid not null,
        id uuid not null,
        session_id uuid,
        session_name text,
        kind text not null,
        place text not null,
        reason text not null,
        count bigint not null,
        item_ids text[] not null,
        first_at timestamptz not null,
        last_at timestamptz not null,
        primary key (tenant_id, id)
      )`);
    await queryRunner.query('create index refused_items_by_time on refused_items (tenant_id, last_at)');
  }
}
