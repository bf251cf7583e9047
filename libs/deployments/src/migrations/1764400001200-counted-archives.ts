import type { QueryRunner } from 'typeorm';

/** Source archives count towards the bytes that their workspace may store. */
export class CountedArchives1764400001200 {
  async up(queryRunner: QueryRunner): Promise<void> {
    // Without one: the archive of a deployment that is gone.
    await queryRunner.query('alter table source_archives add column tenant_id uuid');
    await queryRunner.query(`
      update source_archives a set tenant_id = d.tenant_id from deployments d where d.id = a.deployment_id`);
    await queryRunner.query(`
      create trigger source_archives_counted after insert or delete on source_archives
      for each row execute function count_stored_bytes('source_archives')`);
    await queryRunner.query(`
      insert into stored_bytes (tenant_id, kind, bytes)
      select tenant_id, 'source_archives', sum(bytes) from source_archives where tenant_id is not null group by tenant_id`);
  }
}
