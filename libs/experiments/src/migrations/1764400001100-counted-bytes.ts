import type { QueryRunner } from 'typeorm';

/**
 * SQL for the bytes of a live run, from the members that are stored; for earlier runs that is as near as it is known.
 */
const ROW_BYTES = ['inputs', 'outputs', 'extra', 'tags', 'events', 'serialized', 'error']
  .map((name) => `coalesce(octet_length(r.${name}), 0)`)
  .join(' + ');

/** Stored bodies and runs count towards the bytes that their workspace may store. */
export class CountedBytes1764400001100 {
  readonly name = 'CountedBytes1764400001100';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table session_run_bytes (
        session_id uuid primary key,
        tenant_id uuid not null,
        bytes bigint not null
      )`);
    await queryRunner.query(`
      create trigger payloads_counted after insert or delete on payloads
      for each row execute function count_stored_bytes('payloads')`);
    await queryRunner.query(`
      insert into stored_bytes (tenant_id, kind, bytes)
      select tenant_id, 'payloads', sum(bytes) from payloads group by tenant_id`);
    await queryRunner.query(`
      insert into session_run_bytes (session_id, tenant_id, bytes)
      select s.id, s.tenant_id, sum(${ROW_BYTES}) from sessions s join runs r on r.session_id = s.id
      where s.payload_sha256 is null group by s.id`);
    await queryRunner.query(`
      insert into stored_run_bytes (tenant_id, bytes)
      select tenant_id, sum(bytes) from session_run_bytes group by tenant_id`);
  }
}
