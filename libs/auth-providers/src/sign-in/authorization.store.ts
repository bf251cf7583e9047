import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { type Sealed, Vault } from '@fairlead/eventing';
import { canonicalUuid } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';

/** Time that a sign-in may take (minutes). */
export const LIFETIME_MINUTES = 10;
const PURGE_EVERY = 3_600_000;

interface NewAuthorization {
  readonly tenant_id: string;
  /** Id of the provider's stream. */
  readonly provider: string;
  readonly redirect_uri: string;
  /** The token that will be made, or consented to anew. */
  readonly token_id: string;
  readonly user_id: string | null;
  readonly agent_id: string | null;
  readonly scopes: readonly string[];
  readonly is_default: boolean;
  /** Id of the key that asked. */
  readonly requested_by: string;
}

export interface Authorization extends NewAuthorization {
  readonly id: string;
  readonly status: 'pending' | 'used' | 'completed' | 'failed';
  readonly problem: string | null;
  readonly expired: boolean;
  readonly verifier: string | null;
}

const COLUMNS = `id, tenant_id, provider, redirect_uri, token_id, user_id, agent_id, scopes, is_default, requested_by,
  status, problem, verifier, expires_at <= now() as expired`;

/** Authorisations under way. Of their states only hashes are kept, of their PKCE verifiers only sealed ones. */
@Injectable()
export class AuthorizationStore {
  private purgedAt = 0;

  constructor(
    private readonly pool: Pool,
    private readonly vault: Vault,
  ) {}

  /** Notes a new authorisation; answers its id and the state that stands for it, which works once and for ten minutes. */
  async begin(wanted: NewAuthorization, verifier: string): Promise<{ id: string; state: string }> {
    const id = randomUUID();
    const state = randomBytes(32).toString('base64url');
    const { tenant_id, provider } = wanted;
    const sealed = await this.vault.seal(tenant_id, provider, purpose(id), verifier);
    await this.pool.query(
      `insert into oauth_authorizations (id, tenant_id, provider, state_hash, verifier, redirect_uri, token_id, user_id,
         agent_id, scopes, is_default, requested_by, expires_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, now() + $13 * interval '1 minute')`,
      [
        id,
        tenant_id,
        provider,
        hash(state),
        JSON.stringify(sealed),
        wanted.redirect_uri,
        wanted.token_id,
        wanted.user_id,
        wanted.agent_id,
        wanted.scopes,
        wanted.is_default,
        wanted.requested_by,
        LIFETIME_MINUTES,
      ],
    );
    this.purge();
    return { id, state };
  }

  /** The authorisation that a state stands for, used or not. */
  async byState(state: string): Promise<Authorization | undefined> {
    const text = `select ${COLUMNS} from oauth_authorizations where state_hash = $1`;
    return (await this.pool.query<Authorization>(text, [hash(state)])).rows[0];
  }

  async find(tenantId: string, id: string): Promise<Authorization | undefined> {
    const uuid = canonicalUuid(id);
    const text = `select ${COLUMNS} from oauth_authorizations where id = $1 and tenant_id = $2`;
    return uuid === undefined ? undefined : (await this.pool.query<Authorization>(text, [uuid, tenantId])).rows[0];
  }

  /** Uses up the state of an authorisation; false when it was used before or is too old. */
  async use(id: string): Promise<boolean> {
    const { rowCount } = await this.pool.query(
      `update oauth_authorizations set status = 'used' where id = $1 and status = 'pending' and expires_at > now()`,
      [id],
    );
    return rowCount === 1;
  }

  /** The PKCE verifier in plain text, if the authorisation has one. */
  async verifierOf({ tenant_id, provider, id, verifier }: Authorization): Promise<string | undefined> {
    return verifier === null
      ? undefined
      : this.vault.open(tenant_id, provider, purpose(id), JSON.parse(verifier) as Sealed);
  }

  async complete(id: string, tokenId: string): Promise<void> {
    await this.pool.query(`update oauth_authorizations set status = 'completed', token_id = $2 where id = $1`, [
      id,
      tokenId,
    ]);
  }

  async fail(id: string, problem: string): Promise<void> {
    await this.pool.query(`update oauth_authorizations set status = 'failed', problem = $2 where id = $1`, [
      id,
      problem,
    ]);
  }

  /** Returns the ids of those authorizations that are completed, failed or expired. */
  async ended(ids: readonly string[]): Promise<string[]> {
    const { rows } = await this.pool.query<{ id: string }>(
      `select id from oauth_authorizations
       where id = any($1::uuid[]) and (status in ('completed', 'failed') or expires_at <= now())`,
      [ids],
    );
    return rows.map(({ id }) => id);
  }

  private purge(): void {
    if (Date.now() - this.purgedAt < PURGE_EVERY) return;
    this.purgedAt = Date.now();
    this.pool
      .query(`delete from oauth_authorizations where expires_at < now() - interval '1 day'`)
      .catch(() => undefined);
  }
}

function purpose(id: string): string {
  return `code_verifier ${id}`;
}

function hash(state: string): Buffer {
  return createHash('sha256').update(state).digest();
}
