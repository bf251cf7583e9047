import type { Group } from '../table/group';

const ONE = '/v2/auth/providers/{provider_id}';
const CONNECTIONS = '/v2/auth/agents/{agent_id}/connections';

export const providers: Group = {
  name: 'providers',
  alias: 'provider',
  about: 'OAuth providers that agents get tokens from',
  lines: {
    list: { route: 'GET /v2/auth/providers', columns: ['provider_id', 'name', 'provider_type', 'updated_at', 'id'] },
    get: { route: `GET ${ONE}`, example: 'calendar' },
    create: {
      route: 'POST /v2/auth/providers',
      example:
        '--provider-id calendar --name Calendar --client-id agent --client-secret "$SECRET" --auth-url https://auth.example.com/authorize --token-url https://auth.example.com/token',
    },
    discover: {
      route: 'POST /v2/auth/providers/mcp-discover',
      example: '--provider-id notes --name Notes --mcp-server-url https://notes.example.com/mcp',
    },
    patch: { route: `PATCH ${ONE}`, example: 'calendar --uses-pkce true' },
    delete: { route: `DELETE ${ONE}`, example: 'calendar' },
  },
};

export const tokens: Group = {
  name: 'tokens',
  alias: 'token',
  about: 'OAuth tokens of users, and the agents that use them',
  lines: {
    list: {
      route: 'GET /v2/auth/tokens',
      example: '--provider-id calendar',
      columns: ['id', 'provider_id', 'user_id', 'provider_account_label', 'is_default', 'expires_at'],
    },
    exists: { route: 'GET /v2/auth/tokens/exists', example: 'calendar', args: ['provider_id'] },
    get: {
      route: 'POST /v2/auth/authenticate',
      example: '--provider calendar --user-id ada --scopes events.read',
      about: 'get a token of a user, or the address where they sign in',
    },
    wait: {
      route: 'GET /v2/auth/wait/{auth_id}',
      example: '0198c1f0-0000-7000-8000-000000000001',
      about: 'wait until the user has signed in',
    },
    label: {
      route: 'PATCH /v2/auth/tokens/{token_id}/metadata',
      example: '0198c1f0-0000-7000-8000-000000000001 --provider-account-label work',
    },
    delete: { route: 'DELETE /v2/auth/tokens/{token_id}', example: '0198c1f0-0000-7000-8000-000000000001' },
    'delete-all': { route: 'DELETE /v2/auth/tokens', example: 'calendar --user-id ada', args: ['provider_id'] },
    connections: {
      route: `GET ${CONNECTIONS}`,
      example: 'support-agent',
      columns: ['id', 'provider_id', 'provider_account_label', 'created_by', 'created_at'],
    },
    connect: {
      route: `POST ${CONNECTIONS}`,
      example: 'support-agent --oauth-token-id 0198c1f0-0000-7000-8000-000000000001',
    },
    disconnect: {
      route: `DELETE ${CONNECTIONS}/{connection_id}`,
      example: 'support-agent 0198c1f0-0000-7000-8000-000000000001',
    },
  },
};
