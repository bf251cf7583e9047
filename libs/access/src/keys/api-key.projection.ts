import { type DomainEvent, idOf, type Projection, type Recorded, requireOwn } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import { type ApiKeyEvent, factsOf, type KeyFacts } from './api-key';

const COLUMNS = `id, kind, tenant_id, organization_id, description, scopes, short_key, hash, expires_at, made_by,
  created_at, revoked_at, version`;

/** A revoked key, and all that were made by it. The operator's key is not revoked but given another text. */
const REVOKE = `
  with recursive ended as (
    select id, kind from api_keys where id = $1
    union select made.id, made.kind from api_keys made join ended on made.made_by = ended.id and ended.kind <> 'operator'
  )
  update api_keys set revoked_at = coalesce(revoked_at, $2), version = case id when $1 then $3 else version end
  where id in (select id from ended)`;

type TenantRemoved = DomainEvent<'TenantRemoved', Record<string, never>>;

/** Keeps the table `api_keys`. Keys end with the one that made them, also one that was made while that was revoked. */
export const apiKeysProjection: Projection = {
  name: 'api_keys',
  categories: ['apiKey', 'tenant'],
  async handle(events: Recorded[], tx: PoolClient) {
    for (const event of events as Recorded<ApiKeyEvent | TenantRemoved>[]) {
      if (event.type === 'TenantRemoved') {
        await tx.query('delete from api_keys where tenant_id = $1', [idOf(event.stream)]);
      } else if (event.type === 'ApiKeyCreated') {
        // Its workspace is that of the key, not of the one who made it.
        requireOwn(event, { id: event.data.id });
        await insert(tx, factsOf(event.data), event.time, event.version);
      } else if (event.type === 'ApiKeyRevoked') {
        await tx.query(REVOKE, [idOf(event.stream), event.time, event.version]);
      }
    }
  },
};

/** Writes the whole row: the operator's key is created anew under the same id. */
async function insert(tx: PoolClient, data: KeyFacts, time: string, version: number): Promise<void> {
  await tx.query('delete from api_keys where id = $1', [data.id]);
  const text = `insert into api_keys (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,
    (select $11::timestamptz from api_keys where id = $10 and kind <> 'operator' and revoked_at is not null), $12)`;
  await tx.query(text, [
    data.id,
    data.kind,
    data.tenant_id,
    data.organization_id,
    data.description,
    data.scopes,
    data.short_key,
    data.hash,
    data.expires_at,
    data.made_by,
    time,
    version,
  ]);
}
