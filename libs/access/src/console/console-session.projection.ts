import { Injectable } from '@nestjs/common';
import { idOf, Inapplicable, type Projection, type Recorded } from '@fairlead/eventing';
import { Pool, type PoolClient } from 'pg';
import type { Manager } from '../keys/api-key';
import { apiKeysProjection } from '../keys/api-key.projection';
import type { ConsoleSessionEvent } from './console-session';
import type { ConsoleSessionEntity } from './console-session.entity';
import type { TenantEvent } from '../tenants/tenant';

/** A session with the key that opened it. */
export interface ListedSession extends ConsoleSessionEntity {
  readonly short_key: string;
  readonly key_description: string;
}

type Times = 'created_at' | 'used_at' | 'expires_at' | 'ended_at';
type Stored = Omit<ListedSession, Times> & { created_at: Date; used_at: Date; expires_at: Date; ended_at: Date | null };

const COLUMNS = `s.id, s.key_id, s.key_hash, s.tenant_id, s.organization_id, s.hash, s.address, s.created_at, s.used_at,
  s.expires_at, s.ended_at, s.version`;

/** Keeps the table `console_sessions`; rows of sessions that have expired go when another session begins. */
export const consoleSessionsProjection: Projection = {
  name: 'console_sessions',
  categories: ['consoleSession', 'tenant'],
  async handle(events: Recorded[], tx: PoolClient) {
    for (const event of events as Recorded<ConsoleSessionEvent | TenantEvent>[]) {
      const { stream, time, version } = event;
      if (event.type === 'TenantRemoved') {
        await tx.query('delete from console_sessions where tenant_id = $1', [idOf(stream)]);
      } else if (event.type === 'ConsoleSessionCreated') {
        const { id, key_id, key_hash, tenant_id, organization_id, hash, address, expires_at } = event.data;
        if (id !== idOf(stream)) throw new Inapplicable(`${stream} creates the session of another id.`);
        await tx.query('delete from console_sessions where expires_at < $1', [time]);
        await tx.query(
          `insert into console_sessions (id, key_id, key_hash, tenant_id, organization_id, hash, address, expires_at,
             created_at, used_at, version) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10)`,
          [id, key_id, key_hash, tenant_id, organization_id, hash, address, expires_at, time, version],
        );
      } else if (event.type === 'ConsoleSessionUsed' || event.type === 'ConsoleSessionRevoked') {
        const column = event.type === 'ConsoleSessionUsed' ? 'used_at' : 'ended_at';
        const text = `update console_sessions set ${column} = $2, version = $3 where id = $1`;
        await tx.query(text, [idOf(stream), time, version]);
      }
    }
  },
};

/** Names of the followers that queries of sessions read from: a session without its key is not found. */
export const consoleSessionViews = [consoleSessionsProjection.name, apiKeysProjection.name];

/** Queries of the table `console_sessions`. */
@Injectable()
export class ConsoleSessionView {
  constructor(private readonly pool: Pool) {}

  /** The sessions among the given ids that exist, ended ones too. */
  async byIds(ids: readonly string[]): Promise<ConsoleSessionEntity[]> {
    return this.select('s.id = any($1::uuid[])', [ids]);
  }

  /** Sessions that have neither ended nor expired and whose keys a manager may see, newest first. */
  async list({ kind, tenantId, organizationId }: Manager): Promise<ListedSession[]> {
    return this.select(
      `s.ended_at is null and s.expires_at > now() and k.revoked_at is null and k.hash = s.key_hash
       and k.organization_id = $1 and case k.kind when 'tenant' then k.tenant_id = $2 else $3 end`,
      [organizationId, tenantId, kind !== 'tenant'],
    );
  }

  /** Ids of the sessions of a key that have neither ended nor expired, newest first. */
  async ofKey(keyId: string): Promise<string[]> {
    const rows = await this.select('s.key_id = $1 and s.ended_at is null and s.expires_at > now()', [keyId]);
    return rows.map(({ id }) => id);
  }

  private async select(condition: string, values: unknown[]): Promise<ListedSession[]> {
    const { rows } = await this.pool.query<Stored>(
      `select ${COLUMNS}, k.short_key, k.description as key_description
       from console_sessions s join api_keys k on k.id = s.key_id
       where ${condition} order by s.created_at desc, s.id`,
      values,
    );
    return rows.map((row) => ({
      ...row,
      created_at: row.created_at.toISOString(),
      used_at: row.used_at.toISOString(),
      expires_at: row.expires_at.toISOString(),
      ended_at: row.ended_at?.toISOString() ?? null,
    }));
  }
}
