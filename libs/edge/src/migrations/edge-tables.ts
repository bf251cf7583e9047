import { Migration } from '@fairlead/postgres';

/** Answers of requests that carried an Idempotency-Key; `status` is null while the first one runs. */
export class IdempotencyKeys1763600000050 extends Migration {
  readonly statements = [
    `create table idempotency_keys (
        tenant_id text not null,
        key text not null,
        fingerprint bytea not null,
        holder uuid not null,
        leased_until timestamptz not null,
        status smallint,
        headers text,
        answer text,
        created_at timestamptz not null default now(),
        primary key (tenant_id, key)
      )`,
    'create index idempotency_keys_by_age on idempotency_keys (created_at)',
  ];
}

/** Public keys of the gateways' processes; the private halves never leave the process that made them. */
export class IdentityKeys1763900000000 extends Migration {
  readonly statements = [
    `create table identity_keys (
        id text primary key,
        public_key text not null,
        expires_at timestamptz not null
      )`,
  ];
}

/** The id from which the ids of a request with an Idempotency-Key are derived; null in rows of earlier versions. */
export class CommandIds1764900060000 extends Migration {
  readonly statements = ['alter table idempotency_keys add column command_id uuid'];
}
