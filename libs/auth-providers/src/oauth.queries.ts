import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import type { Provider } from './provider';
import type { Connection, Token } from './token';

export interface TokenFilter {
  /** Id of the provider's stream. */
  readonly provider?: string;
  /** null: only tokens of no user. */
  readonly user_id?: string | null;
}

/** Reads the tables that the view keeps. */
@Injectable()
export class OAuthQueries {
  constructor(private readonly pool: Pool) {}

  /** A tenant's providers, the oldest first. */
  async providers(tenantId: string): Promise<Provider[]> {
    const { rows } = await this.pool.query<{ state: string }>(
      'select state from oauth_providers where tenant_id = $1 order by created_at, id',
      [tenantId],
    );
    return rows.map(({ state }) => JSON.parse(state) as Provider);
  }

  /** A tenant's tokens, defaults first, then the newest. */
  async tokens(tenantId: string, { provider, user_id }: TokenFilter): Promise<Token[]> {
    const values: unknown[] = [tenantId];
    const conditions = ['tenant_id = $1'];
    if (provider !== undefined) conditions.push(`provider = $${values.push(provider)}`);
    if (user_id !== undefined) conditions.push(`user_id is not distinct from $${values.push(user_id)}`);
    return this.select(conditions.join(' and '), values);
  }

  async token(tenantId: string, id: string): Promise<Token | undefined> {
    return (await this.select('tenant_id = $1 and id = $2', [tenantId, id]))[0];
  }

  /** The connections of an agent, the newest first, each with its token. */
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

  private async select(condition: string, values: unknown[]): Promise<Token[]> {
    const { rows } = await this.pool.query<{ state: string; is_default: boolean }>(
      `select state, is_default from oauth_tokens where ${condition} order by is_default desc, created_at desc, id`,
      values,
    );
    return rows.map(({ state, is_default }) => ({ ...(JSON.parse(state) as Token), is_default }));
  }
}

interface ConnectedToken {
  readonly token: Token;
  readonly connection: Connection & { readonly created_at: string };
}

/** A connection as answers show it. */
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
