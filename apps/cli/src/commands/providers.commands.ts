import type { Group } from '../table/group';

const ONE = '/v2/auth/providers/{provider_id}';
const CONNECTIONS = '/v2/auth/agents/{agent_id}/connections';

export const providers: Group = {
  name: 'providers',
  alias: 'provider',
  about: 'OAuth providers that agents get tokens from',
  lines: {
    list: { route: 'GET /v2/auth/providers', columns: ['provider_id', 'name', 'provider_type', 'updated_at', 'id'] },
    get: { route: `GET ${ONE}` },
    create: { route: 'POST /v2/auth/providers' },
    discover: { route: 'POST /v2/auth/providers/mcp-discover' },
    patch: { route: `PATCH ${ONE}` },
    delete: { route: `DELETE ${ONE}` },
  },
};

export const tokens: Group = {
  name: 'tokens',
  alias: 'token',
  about: 'OAuth tokens of users, and the agents that use them',
  lines: {
    list: {
      route: 'GET /v2/auth/tokens',
      columns: ['id', 'provider_id', 'user_id', 'provider_account_label', 'is_default', 'expires_at'],
    },
    exists: { route: 'GET /v2/auth/tokens/exists', args: ['provider_id'] },
    get: { route: 'POST /v2/auth/authenticate', about: 'get a token of a user, or the address where they sign in' },
    wait: { route: 'GET /v2/auth/wait/{auth_id}', about: 'wait until the user has signed in' },
    label: { route: 'PATCH /v2/auth/tokens/{token_id}/metadata' },
    delete: { route: 'DELETE /v2/auth/tokens/{token_id}' },
    'delete-all': { route: 'DELETE /v2/auth/tokens', args: ['provider_id'] },
    connections: {
      route: `GET ${CONNECTIONS}`,
      columns: ['id', 'provider_id', 'provider_account_label', 'created_by', 'created_at'],
    },
    connect: { route: `POST ${CONNECTIONS}` },
    disconnect: { route: `DELETE ${CONNECTIONS}/{connection_id}` },
  },
};
