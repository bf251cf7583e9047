import { Migration, UniqueIndexes } from '@fairlead/postgres';

/** Creates the audit log, which is made of events, and the table of refused requests, which have no event. */
export class AuditTables1763700000300 extends Migration {
  readonly statements = [
    `create table audit_log (
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
      )`,
    'create index audit_log_page on audit_log (tenant_id, "time" desc, id desc)',
    // The events that one request wrote to one stream are one entry.
    'create unique index audit_log_request on audit_log (resource_id, resource, request_id)',
    `create table refused_requests (
        id uuid primary key,
        tenant_id uuid,
        "time" timestamptz not null,
        actor text,
        request text not null,
        status int not null,
        request_id text not null,
        address text not null,
        count int not null
      )`,
    'create index refused_requests_page on refused_requests (tenant_id, "time" desc, id desc)',
    'create index refused_requests_time on refused_requests ("time")',
  ];
}

/**
 * One row per event: a request id is the client's choice, and repeating one hid the later change. The table is filled
 * again from the log, so that entries that were hidden appear.
 */
export class AuditByEvent1763900000500 extends Migration {
  readonly statements = [
    'drop index audit_log_request',
    // A hash index takes ids of any length.
    'create index audit_log_resource on audit_log using hash (resource_id)',
    'truncate audit_log',
    `delete from checkpoints where name = 'audit.log'`,
  ];
}

/** A key that begins with the workspace, beside the one that services of the version before name in `on conflict`. */
export class AuditWorkspaceKey1764900062100 extends UniqueIndexes {
  override readonly arePrimary = true;
  readonly indexes = { audit_log_workspace_key: 'audit_log (tenant_id, id)' };
}
