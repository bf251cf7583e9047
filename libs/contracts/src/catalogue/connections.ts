import type { PushReceivedMessage } from '../ports/deployments';
import type { IntegrationAddedMessage, OAuthProviderAddedMessage } from '../ports/connections';
import type { Row } from './row';

export const connectionEvents = {
  IntegrationAdded: {
    schema: 1,
    operation: 'create_integration',
    webhook: 'integration.added',
    facts: ({ name, provider, base_url }: IntegrationAddedMessage, integration_id) => ({
      integration_id,
      name,
      provider,
      base_url,
    }),
  },
  IntegrationChanged: {
    schema: 1,
    operation: 'update_integration',
    webhook: 'integration.changed',
    facts: (message: object, integration_id) => ({ integration_id, changed: Object.keys(message) }),
  },
  IntegrationRemoved: {
    schema: 1,
    operation: 'delete_integration',
    topic: 'internal.v1',
    webhook: 'integration.removed',
    facts: (_: unknown, integration_id) => ({ integration_id }),
  },
  PushReceived: {
    schema: 1,
    operation: 'create_push',
    topic: 'internal.v1',
    facts: ({ integration_id, repo_url, ref, repo_commit_sha, deployments, cause }: PushReceivedMessage) => ({
      integration_id,
      repo_url,
      ref,
      repo_commit_sha,
      ...(deployments && { deployments }),
      ...(cause && { cause }),
    }),
  },
  OAuthProviderAdded: {
    schema: 1,
    operation: 'register_mcp_server_oauth',
    webhook: 'oauth_provider.added',
    facts: ({ provider_id, name }: OAuthProviderAddedMessage, id) => ({ id, provider_id, name }),
  },
  OAuthProviderChanged: {
    schema: 1,
    operation: 'update_oauth_provider',
    webhook: 'oauth_provider.changed',
    facts: (message: object, id) => ({ id, changed: Object.keys(message) }),
  },
  OAuthProviderRemoved: {
    schema: 1,
    operation: 'delete_oauth_provider',
    webhook: 'oauth_provider.removed',
    facts: (_: unknown, id) => ({ id }),
  },
  OAuthTokenGranted: { schema: 1, operation: 'oauth_token_granted' },
  OAuthTokenRefreshed: { schema: 1, operation: 'oauth_token_refreshed' },
  OAuthTokenRefreshRefused: { schema: 1, operation: 'oauth_token_refresh_refused' },
  OAuthTokenChanged: { schema: 1, operation: 'update_oauth_token' },
  OAuthTokenConnected: { schema: 1, operation: 'oauth_token_connected' },
  OAuthTokenDisconnected: { schema: 1, operation: 'oauth_token_disconnected' },
  OAuthTokenRead: { schema: 1, operation: 'read_oauth_token' },
  OAuthTokenRemoved: { schema: 1, operation: 'delete_oauth_token' },
} as const satisfies Readonly<Record<string, Row>>;
