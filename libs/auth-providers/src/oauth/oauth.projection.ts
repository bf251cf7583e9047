import { idOf, type Projection, type Recorded, requireOwn, Vault } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { type Provider, type ProviderEvent, providerModel } from './provider';
import { type Token, type TokenEvent, tokenModel } from './token';

export const OAUTH_VIEW = 'oauth.view';

/**
 * Keeps the tables of providers, tokens and connections. With a provider go its tokens, and what was sealed for
 * anything that goes can be read no more.
 */
@Injectable()
export class OAuthView implements Projection {
  readonly name = OAUTH_VIEW;
  readonly categories = ['oauthProvider', 'oauthToken'];
  readonly holds = 1;

  constructor(private readonly vault: Vault) {}

  readonly handle = async (events: Recorded[], tx: PoolClient): Promise<void> => {
    for (const event of events) {
      const id = idOf(event.stream);
      if (event.stream.startsWith('oauthProvider-')) await this.provider(id, event as Recorded<ProviderEvent>, tx);
      else await this.token(id, event as Recorded<TokenEvent>, tx);
    }
  };

  private async provider(id: string, event: Recorded<ProviderEvent>, tx: PoolClient): Promise<void> {
    if (event.type === 'OAuthProviderRemoved') {
      const { rows } = await tx.query<{ id: string }>('delete from oauth_tokens where provider = $1 returning id', [
        id,
      ]);
      await tx.query('delete from oauth_providers where id = $1', [id]);
      for (const subject of [id, ...rows.map((row) => row.id)]) await this.vault.shred(subject);
      return;
    }
    if (event.type === 'OAuthProviderAdded') requireOwn(event, event.data);
    const state = providerModel.evolve(await stateOf<Provider>(tx, 'oauth_providers', id), event);
    if (!state) return;
    await tx.query(
      `insert into oauth_providers (id, tenant_id, created_at, state) values ($1, $2, $3, $4)
       on conflict (id) do update set state = excluded.state`,
      [id, state.tenant_id, state.created_at, JSON.stringify(state)],
    );
  }

  private async token(id: string, event: Recorded<TokenEvent>, tx: PoolClient): Promise<void> {
    if (event.type === 'OAuthTokenRemoved') {
      await tx.query('delete from oauth_tokens where id = $1', [id]);
      await this.vault.shred(id);
      return;
    }
    if (event.type === 'OAuthTokenGranted') requireOwn(event, event.data);
    const state = tokenModel.evolve(await stateOf<Token>(tx, 'oauth_tokens', id), event);
    if (!state) return;
    // A token whose provider went meanwhile is not taken in.
    const written = await tx.query(
      `insert into oauth_tokens (id, tenant_id, provider, user_id, is_default, created_at, state)
       select $1, $2, $3, $4, $5, $6, $7 where exists (select from oauth_providers where id = $3 and tenant_id = $2)
       on conflict (id) do update set user_id = excluded.user_id, is_default = excluded.is_default, state = excluded.state`,
      [id, state.tenant_id, state.provider, state.user_id, state.is_default, state.created_at, JSON.stringify(state)],
    );
    if (written.rowCount === 0) await this.vault.shred(id);
    else if (makesDefault(event)) await onlyDefault(tx, state);
    if (event.type === 'OAuthTokenConnected') await connect(tx, state, event);
    else if (event.type === 'OAuthTokenDisconnected') {
      await tx.query('delete from oauth_connections where id = $1 and token_id = $2', [event.data.connection_id, id]);
    }
  }
}

function makesDefault({ type, data }: Recorded<TokenEvent>): boolean {
  return (type === 'OAuthTokenGranted' || type === 'OAuthTokenChanged') && data.is_default === true;
}

/** Makes a token the only default among those of its provider and user. */
async function onlyDefault(tx: PoolClient, { id, tenant_id, provider, user_id }: Token): Promise<void> {
  await tx.query(
    `update oauth_tokens set is_default = false
     where tenant_id = $1 and provider = $2 and user_id is not distinct from $3 and id <> $4 and is_default`,
    [tenant_id, provider, user_id, id],
  );
}

async function connect(
  tx: PoolClient,
  token: Token,
  { data, time }: Extract<Recorded<TokenEvent>, { type: 'OAuthTokenConnected' }>,
): Promise<void> {
  await tx.query(
    `insert into oauth_connections (id, tenant_id, agent_id, token_id, created_at)
     select $1, $2, $3, $4, $5 where exists (select from oauth_tokens where id = $4) on conflict (id) do nothing`,
    [data.connection_id, token.tenant_id, data.agent_id, token.id, time],
  );
}

async function stateOf<State>(
  tx: PoolClient,
  table: 'oauth_providers' | 'oauth_tokens',
  id: string,
): Promise<State | null> {
  const { rows } = await tx.query<{ state: string }>(`select state from ${table} where id = $1`, [id]);
  return rows[0] ? (JSON.parse(rows[0].state) as State) : null;
}
