import { Injectable } from '@nestjs/common';
import { idOf, type Projection, type Recorded, requireOwn } from '@fairlead/eventing';
import { Pool, type PoolClient } from 'pg';
import { type ApiKey, type ApiKeyEvent, factsOf, type KeyFacts, type Manager } from './api-key';
import type { TenantEvent } from './tenant';

export interface ApiKeyRow extends ApiKey {
  /** Version of its stream. */
  readonly version: number;
}

type Times = 'created_at' | 'expires_at' | 'revoked_at';
type Stored = Omit<ApiKeyRow, Times> & { created_at: Date; expires_at: Date | null; revoked_at: Date | null };

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

/** Keeps the table `api_keys`. Keys end with the one that made them, also one that was made while that was revoked. */
export const apiKeysProjection: Projection = {
  name: 'api_keys',
  categories: ['apiKey', 'tenant'],
  async handle(events: Recorded[], tx: PoolClient) {
    for (const event of events as Recorded<ApiKeyEvent | TenantEvent>[]) {
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

/** Queries of the table `api_keys`. */
@Injectable()
export class ApiKeyView {
  constructor(private readonly pool: Pool) {}

  /** Those of the given ids that exist, revoked ones too. */
  async byIds(ids: readonly string[]): Promise<ApiKeyRow[]> {
    return this.select('id = any($1::uuid[])', [ids]);
  }

  /** The keys a manager may see, newest first, without revoked ones. */
  async list({ kind, tenantId, organizationId }: Manager): Promise<ApiKeyRow[]> {
    return this.select(
      `organization_id = $1 and revoked_at is null
       and case kind when 'tenant' then tenant_id = $2 else $3 end`,
      [organizationId, tenantId, kind !== 'tenant'],
    );
  }

  /** Ids of keys of a tenant that work still, `most` at most. */
  async working(tenantId: string, most: number): Promise<string[]> {
    const { rows } = await this.pool.query<{ id: string }>(
      'select id from api_keys where tenant_id = $1 and revoked_at is null limit $2',
      [tenantId, most],
    );
    return rows.map(({ id }) => id);
  }

  private async select(condition: string, values: unknown[]): Promise<ApiKeyRow[]> {
    const text = `select ${COLUMNS} from api_keys where ${condition} order by created_at desc, id`;
    const { rows } = await this.pool.query<Stored>(text, values);
    return rows.map((row) => ({
      ...row,
      created_at: row.created_at.toISOString(),
      expires_at: row.expires_at?.toISOString() ?? null,
      revoked_at: row.revoked_at?.toISOString() ?? null,
    }));
  }
}
