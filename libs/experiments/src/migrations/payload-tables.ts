import { Migration } from '@fairlead/postgres';

/** Uploaded bodies as sent (decompressed), in chunks, one per tenant and content. */
export class CreatePayloads1763600000000 extends Migration {
  readonly statements = [
    `create table payloads (
        id uuid primary key,
        tenant_id uuid not null,
        sha256 text not null,
        bytes bigint not null,
        created_at timestamptz not null default now(),
        unique (tenant_id, sha256)
      )`,
    `create table payload_chunks (
        payload_id uuid not null,
        number integer not null,
        data bytea not null,
        primary key (payload_id, number)
      )`,
    // A chunk fills a page of its own: half the cost of what would be moved out of line.
    'alter table payload_chunks alter column data set storage plain',
    `create table persisted_experiments (
        session_id uuid primary key,
        statistics text not null
      )`,
  ];
}

/** Uploaded bodies of which a part is stored while the rest comes slowly: what is never kept is swept. */
export class PayloadDrafts1764200003000 extends Migration {
  readonly statements = [
    `create table payload_drafts (
        id uuid primary key,
        touched_at timestamptz not null default clock_timestamp()
      )`,
  ];
}

/**
 * SQL for the bytes of a live run, from the members that are stored; for earlier runs that is as near as it is known.
 */
const ROW_BYTES = ['inputs', 'outputs', 'extra', 'tags', 'events', 'serialized', 'error']
  .map((name) => `coalesce(octet_length(r.${name}), 0)`)
  .join(' + ');

/** Stored bodies and runs count towards the bytes that their workspace may store. */
export class CountedBytes1764400001100 extends Migration {
  readonly statements = [
    `create table session_run_bytes (
        session_id uuid primary key,
        tenant_id uuid not null,
        bytes bigint not null
      )`,
    `create trigger payloads_counted after insert or delete on payloads
      for each row execute function count_stored_bytes('payloads')`,
    `insert into stored_bytes (tenant_id, kind, bytes)
      select tenant_id, 'payloads', sum(bytes) from payloads group by tenant_id`,
    `insert into session_run_bytes (session_id, tenant_id, bytes)
      select s.id, s.tenant_id, sum(${ROW_BYTES}) from sessions s join runs r on r.session_id = s.id
      where s.payload_sha256 is null group by s.id`,
    `insert into stored_run_bytes (tenant_id, bytes)
      select tenant_id, sum(bytes) from session_run_bytes group by tenant_id`,
  ];
}

/** The chunks of payloads hold compressed blocks from now on; those of earlier ones hold the bytes as they came. */
export class FramedPayloads1764600016100 extends Migration {
  readonly statements = ['alter table payloads add column framed boolean not null default false'];
}

/** Runs and datasets that whoever has a token may read. A token is sealed, and recognised by its digest. */
export class Shares1764500030000 extends Migration {
  readonly statements = [
    `create table shares (
        id uuid primary key,
        tenant_id uuid not null,
        kind text not null,
        subject_id uuid not null,
        session_id uuid,
        token jsonb not null,
        digest text not null unique,
        shared_at timestamptz not null
      )`,
    'create index shares_by_subject on shares (tenant_id, kind, subject_id)',
    'create index shares_by_session on shares (session_id)',
  ];
}

/** Links to comparisons and runs, which expire and can hide some of what they show. */
export class ShareLinks1764600050000 extends Migration {
  readonly statements = [
    `create table share_links (
        id uuid primary key,
        tenant_id uuid not null,
        kind text not null,
        dataset_id uuid,
        experiments uuid[] not null,
        run_id uuid,
        hidden text[] not null,
        digest text not null unique,
        created_at timestamptz not null,
        expires_at timestamptz not null
      )`,
    'create index share_links_by_tenant on share_links (tenant_id, created_at)',
    'create index share_links_by_experiment on share_links using gin (experiments)',
  ];
}
