import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Metadata, serviceCaller, Shredded, Vault } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { ProviderFailed } from '../oauth/provider.errors';
import { TokenNotFound } from '../oauth/token.errors';
import { OAuthClient, type PlainGrant } from '../oauth/oauth.client';
import { originOf, type Provider } from '../oauth/provider';
import { ProviderCommands } from '../provider/provider.commands';
import { hasEnded, isEnding, refreshToken, refuseRefresh, type SealedGrant, type Token } from '../oauth/token';
import { TokenCommands } from './token.commands';

/** Duration of the lease on a token (ms): longer than a call to a provider. */
const LEASE_MS = 30_000;
const LOOK_EVERY_MS = 100;
/** OAuth errors after which the refresh token can never be used again. */
const FINAL = new Set(['invalid_grant', 'unauthorized_client', 'invalid_scope']);

/** Seals and opens tokens, and refreshes them before they end: one caller at a time in all replicas. */
@Injectable()
export class TokenService {
  private readonly running = new Map<string, Promise<void>>();

  constructor(
    private readonly pool: Pool,
    private readonly tokens: TokenCommands,
    private readonly vault: Vault,
    private readonly client: OAuthClient,
    private readonly providers: ProviderCommands,
  ) {}

  /** A grant that only the vault can read; `scopes` when the provider does not say what it granted. */
  async seal(
    tenantId: string,
    id: string,
    { access_token, refresh_token, obtained_at, expires_at, scopes: granted }: PlainGrant,
    scopes: readonly string[],
  ): Promise<SealedGrant> {
    const seal = (name: string, plain: string) => this.vault.seal(tenantId, id, name, plain);
    return {
      access_token: await seal('access_token', access_token),
      refresh_token: refresh_token === undefined ? null : await seal('refresh_token', refresh_token),
      obtained_at,
      expires_at,
      scopes: granted ?? scopes,
    };
  }

  /**
   * The access token, a newer one when it is about to end and the provider can be asked; undefined when it has ended
   * and only a person can get another.
   * @throws ProviderFailed when it has ended and the provider cannot be asked.
   * @throws TokenNotFound when it has been removed.
   */
  async open(id: string, provider: Provider, metadata: Metadata): Promise<string | undefined> {
    let token = await this.load(id, provider);
    if (needsRefresh(token, provider)) {
      await this.refreshOnce(id, provider, metadata).catch((error: unknown) => {
        if (!(error instanceof ProviderFailed) || hasEnded(token)) throw error;
      });
      token = await this.load(id, provider);
    }
    if (hasEnded(token)) return undefined;
    try {
      return await this.vault.open(token.tenant_id, id, 'access_token', token.access_token);
    } catch (error) {
      throw error instanceof Shredded ? new TokenNotFound(id) : error;
    }
  }

  private refreshOnce(id: string, provider: Provider, metadata: Metadata): Promise<void> {
    const running = this.running.get(id);
    if (running) return running;
    const refreshing = this.refreshLeased(id, provider, metadata).finally(() => this.running.delete(id));
    this.running.set(id, refreshing);
    return refreshing;
  }

  /** Refreshes while holding the lease of the token; a replica that finds it held waits for what its holder brings. */
  private async refreshLeased(id: string, provider: Provider, metadata: Metadata): Promise<void> {
    const holder = randomUUID();
    const deadline = Date.now() + LEASE_MS;
    while (!(await this.lease(id, holder))) {
      await delay(LOOK_EVERY_MS);
      if (!needsRefresh(await this.load(id, provider), provider)) return;
      if (Date.now() > deadline) {
        throw new ProviderFailed('slow', `OAuth provider '${provider.provider_id}' took too long to answer.`);
      }
    }
    try {
      const token = await this.load(id, provider);
      if (needsRefresh(token, provider)) await this.refresh(token, provider, metadata);
    } finally {
      await this.pool.query('delete from oauth_refreshes where token_id = $1 and holder = $2', [id, holder]);
    }
  }

  private async refresh(token: Token, provider: Provider, metadata: Metadata): Promise<void> {
    const { id, tenant_id } = token;
    const caller = serviceCaller({ ...metadata, tenant: tenant_id });
    try {
      const plain = await this.vault.open(tenant_id, id, 'refresh_token', token.refresh_token!);
      const grant = await this.client.refresh(provider, await this.providers.secretOf(provider), plain);
      const sealed = await this.seal(tenant_id, id, grant, token.scopes);
      await this.tokens.change(caller, id, refreshToken(sealed));
    } catch (error) {
      if (!(error instanceof ProviderFailed) || !FINAL.has(error.code ?? '')) throw error;
      await this.tokens.change(caller, id, refuseRefresh(error.code!));
    }
  }

  private async lease(id: string, holder: string): Promise<boolean> {
    const { rowCount } = await this.pool.query(
      `insert into oauth_refreshes (token_id, holder, leased_until)
       values ($1, $2, now() + $3 * interval '1 millisecond')
       on conflict (token_id) do update set holder = excluded.holder, leased_until = excluded.leased_until
       where oauth_refreshes.leased_until < now()`,
      [id, holder, LEASE_MS],
    );
    return rowCount === 1;
  }

  private async load(id: string, { tenant_id }: Provider): Promise<Token> {
    return (await this.tokens.find(tenant_id, id)).state;
  }
}

/** Returns whether a token should be refreshed. A refresh token is sent only to the endpoint that issued it. */
function needsRefresh(token: Token, { token_url }: Provider): boolean {
  return isEnding(token) && token.refresh_token !== null && token.issued_by === originOf(token_url);
}
