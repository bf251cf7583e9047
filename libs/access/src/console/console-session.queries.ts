import { effectiveScopes } from '@fairlead/api';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import type { Manager } from '../keys/api-key';
import type { ApiKeyEntity } from '../keys/api-key.entity';
import { apiKeysProjection } from '../keys/api-key.projection';
import type { TenantEntity } from '../tenants/tenant.entity';
import { sessionScopes } from './console-session';
import type { ConsoleSessionEntity } from './console-session.entity';
import { consoleSessionsProjection } from './console-session.projection';

/** A session with the key that opened it. */
interface ListedSession extends ConsoleSessionEntity {
  readonly short_key: string;
  readonly key_description: string;
}

type Times = 'created_at' | 'used_at' | 'expires_at' | 'ended_at';
type Stored = Omit<ListedSession, Times> & { created_at: Date; used_at: Date; expires_at: Date; ended_at: Date | null };

const COLUMNS = `s.id, s.key_id, s.key_hash, s.tenant_id, s.organization_id, s.hash, s.address, s.created_at, s.used_at,
  s.expires_at, s.ended_at, s.version`;

/** Names of the followers that queries of sessions read from: a session without its key is not found. */
export const consoleSessionViews = [consoleSessionsProjection.name, apiKeysProjection.name];

/** Queries of the table `console_sessions`. */
@Injectable()
export class ConsoleSessionQueries {
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

/** An element of the list of sessions; `current`: the id of the session that asks. */
export function sessionRecord(session: ListedSession, current: string | undefined) {
  const { id, key_id, short_key, key_description: description, tenant_id, address } = session;
  const { created_at, used_at, expires_at } = session;
  const key = { id: key_id, short_key, description };
  return { id, key, workspace_id: tenant_id, address, created_at, used_at, expires_at, current: id === current };
}

/** The answer about a session, or about a key that no session stands for. */
export function signedInRecord(
  key: ApiKeyEntity,
  workspace_id: string,
  tenants: readonly TenantEntity[],
  session?: { id: string; expires_at: string },
) {
  const { id, short_key, description } = key;
  const workspaces = tenants.map(({ id, display_name, tenant_handle }) => ({ id, display_name, tenant_handle }));
  return {
    id: session?.id ?? null,
    workspace_id,
    workspaces,
    scopes: session ? [...sessionScopes(key.scopes)] : [...key.scopes],
    reveals_secrets: effectiveScopes(key.scopes).has('secrets:read'),
    key: { id, short_key, description },
    expires_at: session?.expires_at ?? key.expires_at,
  };
}
