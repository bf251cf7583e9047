import type { QueryRunner } from 'typeorm';

/**
 * One row per event: a request id is the client's choice, and repeating one hid the later change. The table is filled
 * again from the log, so that entries that were hidden appear.
 */
export class AuditByEvent1763900000500 {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop index audit_log_request');
    // A hash index takes ids of any length.
    await queryRunner.query('create index audit_log_resource on audit_log using hash (resource_id)');
    await queryRunner.query('truncate audit_log');
    await queryRunner.query(`delete from checkpoints where name = 'audit.log'`);
  }
}
