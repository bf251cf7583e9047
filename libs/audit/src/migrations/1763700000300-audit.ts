import type { QueryRunner } from 'typeorm';

/** Creates the audit log, which is made of events, and the table of refused requests, which have no event. */
export class AuditTables1763700000300 {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create table audit_log (
        id uuid primary key,
        tenant_id uuid not null,
        "time" timestamptz not null,
        operation text not null,
        actor text not null,
        resource text not null,
        resource_id text not null,
        request_id text,
        request text,
        address text,
        reason text
      )`);
    await queryRunner.query('create index audit_log_page on audit_log (tenant_id, "time" desc, id desc)');
    // The events that one request wrote to one stream are one entry.
    await queryRunner.query('create unique index audit_log_request on audit_log (resource_id, resource, request_id)');
    await queryRunner.query(`
      create table refused_requests (
        id uuid primary key,
        tenant_id uuid,
        "time" timestamptz not null,
        actor text,
        request text not null,
        status int not null,
        request_id text not null,
        address text not null,
        count int not null
      )`);
    await queryRunner.query('create index refused_requests_page on refused_requests (tenant_id, "time" desc, id desc)');
    await queryRunner.query('create index refused_requests_time on refused_requests ("time")');
  }
}
