import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { DataSource, type FindOptionsWhere, IsNull } from 'typeorm';
import { OAuthProviderEntity, OAuthTokenEntity } from './oauth.entity';
import type { Provider } from './provider';
import type { Connection, Token } from './token';

export interface TokenFilter {
  /** Id of the provider's stream. */
  readonly provider?: string;
  /** null: only tokens without a user. */
  readonly user_id?: string | null;
}

/** Queries of the tables of providers, tokens and connections. */
@Injectable()
export class OAuthQueries {
  constructor(
    private readonly pool: Pool,
    private readonly db: DataSource,
  ) {}

  /** Returns the providers of a tenant, oldest first. */
  async providers(tenantId: string): Promise<Provider[]> {
    const rows = await this.db
      .getRepository(OAuthProviderEntity)
      .find({ where: { tenant_id: tenantId }, order: { created_at: 'asc', id: 'asc' } });
    return rows.map(({ state }) => state);
  }

  /** Returns the tokens of a tenant: defaults first, then the newest. */
  tokens(tenantId: string, { provider, user_id }: TokenFilter): Promise<Token[]> {
    return this.find({
      tenant_id: tenantId,
      ...(provider !== undefined && { provider }),
      ...(user_id !== undefined && { user_id: user_id ?? IsNull() }),
    });
  }

  async token(tenantId: string, id: string): Promise<Token | undefined> {
    return (await this.find({ tenant_id: tenantId, id }))[0];
  }

  /** Returns the connections of an agent with their tokens, newest first. */
  async connections(tenantId: string, agentId: string): Promise<ConnectedToken[]> {
    const { rows } = await this.pool.query<{ id: string; state: string }>(
      `select c.id, t.state from oauth_connections as c join oauth_tokens as t on t.id = c.token_id
       where c.tenant_id = $1 and c.agent_id = $2 order by c.created_at desc, c.id`,
      [tenantId, agentId],
    );
    return rows.flatMap(({ id, state }) => {
      const token = JSON.parse(state) as Token;
      const connection = token.connections.find(({ connection_id }) => connection_id === id);
      return connection ? [{ token, connection }] : [];
    });
  }

  private async find(where: FindOptionsWhere<OAuthTokenEntity>): Promise<Token[]> {
    const rows = await this.db
      .getRepository(OAuthTokenEntity)
      .find({ where, order: { is_default: 'desc', created_at: 'desc', id: 'asc' } });
    return rows.map(({ state, is_default }) => ({ ...state, is_default }));
  }
}

interface ConnectedToken {
  readonly token: Token;
  readonly connection: Connection & { readonly created_at: string };
}

/** Returns a connection as answers show it. */
export function connectionRecord({ token, connection }: ConnectedToken) {
  return {
    id: connection.connection_id,
    agent_id: connection.agent_id,
    oauth_token_id: token.id,
    provider_id: token.provider_id,
    provider_account_label: token.provider_account_label,
    scopes: token.scopes,
    expires_at: token.expires_at,
    created_by: connection.created_by,
    created_at: connection.created_at,
  };
}
