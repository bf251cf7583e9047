import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Migration } from '@fairlead/postgres';

const sql = (name: string) => readFileSync(join(__dirname, '../../sql', `${name}.sql`), 'utf8');

/** The log, the followers' checkpoints, the consumers' inbox, and the function that appends. */
export class EventStoreTables1763600000000 extends Migration {
  readonly statements = [sql('events'), sql('append_events')];
}

/** One data key per subject, wrapped by the master key `key_id`. Deleting a row makes what it sealed unreadable for ever. */
export class VaultTables1763600000100 extends Migration {
  readonly statements = [
    `create table data_keys (
        subject text primary key,
        key_id text not null,
        wrapped bytea not null,
        created_at timestamptz not null default now()
      )`,
  ];
}

/** Creates the table of the position up to which the log has been hashed for its next seal. */
export class LogHashes1763700000200 extends Migration {
  readonly statements = [
    `create table log_hashes (
        id int primary key check (id = 1),
        "position" bigint not null,
        count bigint not null,
        hash text not null,
        day text
      )`,
  ];
}

/**
 * The one row that says that the log was moved, or is being moved, to another store, and the function that refuses
 * appends to a log that was moved once a trigger calls it.
 */
export class LogMove1763700000450 extends Migration {
  readonly statements = [
    `create table log_move (
        single boolean primary key default true check (single),
        store text not null,
        finished timestamptz
      );
      create function refuse_moved_log() returns trigger language plpgsql as $$
      begin
        raise exception 'The log was moved to another store.' using errcode = '57P03';
      end
      $$`,
  ];
}

/** Streams whose events wait for a consumer that fails at one of them. */
export class ParkedSubjects1763800000000 extends Migration {
  readonly statements = [
    `create table parked_subjects (
        id uuid primary key default gen_random_uuid(),
        consumer text not null,
        subject text not null,
        tenant_id text,
        event_type text not null,
        version int not null,
        last_version int not null,
        attempts int not null,
        reason text not null,
        created_at timestamptz not null default now(),
        failed_at timestamptz not null default now(),
        -- Tried again by itself from then on; null when it waits for somebody to ask for it.
        retry_at timestamptz,
        unique (consumer, subject)
      );
      create index on parked_subjects (retry_at)`,
  ];
}

/**
 * Adds the number and age of unsealed events, and a signature over the position up to which the log has been hashed.
 */
export class LogHeads1763900000600 extends Migration {
  readonly statements = [
    `alter table log_hashes
        add column unsealed int not null default 0,
        add column unsealed_since timestamptz,
        add column key_id text,
        add column signature text`,
  ];
}

/** Creates the table of things that count against the quotas of workspaces; `sure` once the log says so. */
export class QuotaPlaces1764200001000 extends Migration {
  readonly statements = [
    `create table quota_places (
        kind text not null,
        id text not null,
        tenant_id uuid not null,
        taken_at timestamptz not null default now(),
        sure boolean not null default false,
        primary key (kind, id)
      )`,
    'create index quota_places_tenant on quota_places (tenant_id, kind)',
  ];
}

/** The last event that each follower has handled, which must be in the log for the checkpoint to mean anything. */
export class CheckpointEvents1764300001100 extends Migration {
  readonly statements = [
    `alter table checkpoints
        add column event_id uuid,
        add column event_position bigint,
        add column event_stream text`,
  ];
}

/** Workspaces that are suspended or removed, and how far the removal of each has come. */
export class StoppedWorkspaces1764300001100 extends Migration {
  readonly statements = [
    `create table stopped_workspaces (
        tenant_id uuid primary key,
        status text not null,
        since timestamptz not null
      )`,
    `create table workspace_removals (
        tenant_id uuid not null,
        part text not null,
        leased_until timestamptz,
        done_at timestamptz,
        primary key (tenant_id, part)
      )`,
  ];
}

/** Whose place ends with whose; keys are counted anew, because those that ended with their maker held their places. */
export class QuotaMakers1764300001200 extends Migration {
  readonly statements = [
    'alter table quota_places add column maker text',
    'create index quota_places_maker on quota_places (kind, maker) where maker is not null',
    `delete from quota_places where kind = 'api_keys'`,
    `delete from checkpoints where name = 'quota.api_keys'`,
  ];
}

/**
 * Bytes that workspaces store, by what they are of: a trigger on each table of bodies keeps the count. Those of runs are
 * kept by the projection of runs, and made again with it.
 */
export class StoredBytes1764400001000 extends Migration {
  readonly statements = [
    `create table stored_bytes (
        tenant_id uuid not null,
        kind text not null,
        bytes bigint not null,
        primary key (tenant_id, kind)
      )`,
    'create table stored_run_bytes (tenant_id uuid primary key, bytes bigint not null)',
    `create function count_stored_bytes() returns trigger language plpgsql as $$
      begin
        if tg_op = 'INSERT' and new.tenant_id is not null then
          insert into stored_bytes (tenant_id, kind, bytes) values (new.tenant_id, tg_argv[0], new.bytes)
          on conflict (tenant_id, kind) do update set bytes = stored_bytes.bytes + excluded.bytes;
        elsif tg_op = 'DELETE' then
          update stored_bytes set bytes = greatest(bytes - old.bytes, 0)
          where tenant_id = old.tenant_id and kind = tg_argv[0];
        end if;
        return null;
      end $$`,
  ];
}

/** The tree over the events since the newest seal; null until the first seal after an upgrade. */
export class SealTrees1764500001000 extends Migration {
  readonly statements = [
    `alter table log_hashes
        add column tree_from bigint,
        add column tree_peaks text[]`,
  ];
}

/** Lets one call append to a stream several times: many events of one session would else need a commit each. */
export class AppendsOfOneStream1764900084000 extends Migration {
  readonly statements = [sql('append_events')];
}
