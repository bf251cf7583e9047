interface Queries {
  query(sql: string): Promise<unknown>;
}

/** Answers of requests that carried an Idempotency-Key; `status` is null while the first one runs. */
export class IdempotencyKeys1763600000050 {
  readonly name = 'IdempotencyKeys1763600000050';

  async up(queries: Queries): Promise<void> {
    await queries.query(`
      create table idempotency_keys (
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
      )`);
    await queries.query('create index idempotency_keys_by_age on idempotency_keys (created_at)');
  }
}
