import type { QueryRunner } from 'typeorm';

/**
 * Bytes that workspaces store, by what they are of: a trigger on each table of bodies keeps the count. Those of runs are
 * kept by the projection of runs, and made again with it.
 */
export class StoredBytes1764400001000 {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table stored_bytes (
        tenant_id uuid not null,
        kind text not null,
        bytes bigint not null,
        primary key (tenant_id, kind)
      )`);
    await queryRunner.query('create table stored_run_bytes (tenant_id uuid primary key, bytes bigint not null)');
    await queryRunner.query(`
      create function count_stored_bytes() returns trigger language plpgsql as $$
      begin
        if tg_op = 'INSERT' and new.tenant_id is not null then
          insert into stored_bytes (tenant_id, kind, bytes) values (new.tenant_id, tg_argv[0], new.bytes)
          on conflict (tenant_id, kind) do update set bytes = stored_bytes.bytes + excluded.bytes;
        elsif tg_op = 'DELETE' then
          update stored_bytes set bytes = greatest(bytes - old.bytes, 0)
          where tenant_id = old.tenant_id and kind = tg_argv[0];
        end if;
        return null;
      end $$`);
  }
}
