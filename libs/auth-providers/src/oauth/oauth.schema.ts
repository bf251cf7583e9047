import { bool, type Infer, list, literal, note, nullable, object, str, timestamp, uuid } from '@fairlead/schema';
import { AUTH_METHODS, CHALLENGE_METHODS, PROVIDER_TYPES } from './provider';

export const provider = object('OAuthProvider', {
  id: note(uuid(), 'Identifier of the provider; the redirect URI ends with it.'),
  organization_id: note(uuid(), 'Organisation that the provider belongs to.'),
  provider_id: note(str(), 'Name for paths and requests, unique in the workspace.'),
  name: note(str(), 'Name that people see.'),
  client_id: note(str(), 'Client identifier that the provider gave out.'),
  auth_url: note(str(), 'Authorization endpoint, where people sign in.'),
  token_url: note(str(), 'Token endpoint, where codes and refresh tokens are exchanged.'),
  uses_pkce: note(bool(), 'As it was given. Sign-ins always use PKCE, whatever it says.'),
  code_challenge_method: note(
    nullable(literal(CHALLENGE_METHODS)),
    'As it was given; null when `uses_pkce` is false. Sign-ins always use `S256`.',
  ),
  provider_type: note(nullable(literal(PROVIDER_TYPES)), 'Vendor of the provider, without effect; null for others.'),
  mcp_server_url: note(nullable(str()), 'MCP server that the provider was discovered from; null for others.'),
  token_endpoint_auth_method: note(literal(AUTH_METHODS), 'How the client proves itself at the token endpoint.'),
  is_dynamic_client: note(bool(), 'True when the client registered itself (RFC 7591).'),
  created_at: note(timestamp(), 'When the provider was added.'),
  updated_at: note(timestamp(), 'When the provider last changed.'),
});

const scopes = note(list(str()), 'Scopes that the provider granted.');
const label = note(nullable(str()), 'Name of the account, as a client set it; null until one did.');
const expires = note(nullable(timestamp()), 'When the access token ends; null when the provider does not say.');

export const authentication = object('AuthAuthenticateResponse', {
  status: note(
    literal(['completed', 'pending', 'connection_required', 'token_expired']),
    '`completed`: `token` is there. Else a person has to sign in at `url`: there is no token for these scopes (`pending`), the agent is not connected with it (`connection_required`), or it ended (`token_expired`).',
  ),
  url: note(nullable(str()), 'Where a person signs in; null when there is a token.'),
  auth_id: note(
    nullable(str()),
    'Identifier of the sign-in, for `GET /v2/auth/wait/{auth_id}`; null when there is a token.',
  ),
  token: note(nullable(str()), 'Access token; null unless `status` is `completed`.'),
  user_id: note(nullable(str()), "Whose token it is; null for the workspace's own."),
  metadata: note(
    nullable(
      object('AuthTokenMetadata', {
        token_id: note(uuid(), 'Identifier of the token.'),
        'scopes?': scopes,
        'expires_at?': expires,
        'provider_account_label?': label,
      }),
    ),
    'About the token; null unless `status` is `completed`.',
  ),
});

export type Authentication = Infer<typeof authentication>;

export const waited = object('AuthWaitResponse', {
  status: note(
    literal(['completed', 'pending', 'timeout', 'not_found']),
    '`completed`: `token` is there. `pending`, `timeout`: nobody has signed in yet. `not_found`: the sign-in is unknown, older than ten minutes, or was refused.',
  ),
  token: note(nullable(str()), 'Access token; null unless `status` is `completed`.'),
  'detail?': note(str(), 'Why there will be no token: the error code of the provider.'),
});

export type Waited = Infer<typeof waited>;

export const finished = object('AuthFinished', {
  status: note(literal(['completed']), 'Always `completed`: other outcomes are errors.'),
  auth_id: note(str(), 'The sign-in that has ended.'),
});

export const tokenRecord = object('OAuthTokenSummary', {
  id: note(uuid(), 'Identifier of the token; no answer of this list holds the token itself.'),
  provider_id: note(str(), 'Name of the provider that issued the token.'),
  user_id: note(nullable(str()), "Whose token it is; null for the workspace's own."),
  provider_account_label: label,
  scopes,
  expires_at: expires,
  is_default: note(bool(), 'True when it is preferred among the tokens of its provider and user.'),
  created_at: note(timestamp(), 'When somebody signed in for it.'),
  updated_at: note(timestamp(), 'When it was last refreshed or changed.'),
});

export const tokenStatus = object('OAuthTokenStatusResponse', {
  has_token: note(bool(), 'Whether there is a token of the provider, for the user if one was named.'),
});
export const removedTokens = object('OAuthTokensRemoved', {
  deleted: note(list(uuid()), 'Identifiers of the tokens that were removed.'),
});

export const connection = object('AgentConnection', {
  id: note(uuid(), 'Identifier of the connection.'),
  agent_id: note(str(), 'Agent that uses the token.'),
  oauth_token_id: note(uuid(), 'Token that the agent uses.'),
  provider_id: note(str(), 'The `provider_id` of the provider of the token.'),
  provider_account_label: label,
  scopes,
  expires_at: expires,
  created_by: note(str(), 'Identifier of the API key that connected the agent.'),
  created_at: note(timestamp(), 'When the agent was connected.'),
});
export const connections = object('AgentConnectionList', {
  data: note(list(connection), 'Connections of the agent.'),
});
