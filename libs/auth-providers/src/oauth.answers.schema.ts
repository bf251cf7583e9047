import { shape } from '@fairlead/api';
import { AUTH_METHODS, CHALLENGE_METHODS, PROVIDER_TYPES } from './provider/provider';

const { boolean, list, noted, nullable, object, oneOf, text, time, uuid } = shape;

export const provider = object('OAuthProvider', {
  id: noted(uuid, 'Identifier of the provider; the redirect URI ends with it.'),
  organization_id: noted(uuid, 'Organisation that the provider belongs to.'),
  provider_id: noted(text, 'Name for paths and requests, unique in the workspace.'),
  name: noted(text, 'Name that people see.'),
  client_id: noted(text, 'Client identifier that the provider gave out.'),
  auth_url: noted(text, 'Authorization endpoint, where people sign in.'),
  token_url: noted(text, 'Token endpoint, where codes and refresh tokens are exchanged.'),
  uses_pkce: noted(boolean, 'As it was given. Sign-ins always use PKCE, whatever it says.'),
  code_challenge_method: noted(
    nullable(oneOf(...CHALLENGE_METHODS)),
    'As it was given; null when `uses_pkce` is false. Sign-ins always use `S256`.',
  ),
  provider_type: noted(nullable(oneOf(...PROVIDER_TYPES)), 'Vendor of the provider, without effect; null for others.'),
  mcp_server_url: noted(nullable(text), 'MCP server that the provider was discovered from; null for others.'),
  token_endpoint_auth_method: noted(oneOf(...AUTH_METHODS), 'How the client proves itself at the token endpoint.'),
  is_dynamic_client: noted(boolean, 'True when the client registered itself (RFC 7591).'),
  created_at: noted(time, 'When the provider was added.'),
  updated_at: noted(time, 'When the provider last changed.'),
});

const scopes = noted(list(text), 'Scopes that the provider granted.');
const label = noted(nullable(text), 'Name of the account, as a client set it; null until one did.');
const expires = noted(nullable(time), 'When the access token ends; null when the provider does not say.');

export const authentication = object('AuthAuthenticateResponse', {
  status: noted(
    oneOf('completed', 'pending', 'connection_required', 'token_expired'),
    '`completed`: `token` is there. Else a person has to sign in at `url`: there is no token for these scopes (`pending`), the agent is not connected with it (`connection_required`), or it ended (`token_expired`).',
  ),
  url: noted(nullable(text), 'Where a person signs in; null when there is a token.'),
  auth_id: noted(
    nullable(text),
    'Identifier of the sign-in, for `GET /v2/auth/wait/{auth_id}`; null when there is a token.',
  ),
  token: noted(nullable(text), 'Access token; null unless `status` is `completed`.'),
  user_id: noted(nullable(text), "Whose token it is; null for the workspace's own."),
  metadata: noted(
    nullable(
      object('AuthTokenMetadata', {
        token_id: noted(uuid, 'Identifier of the token.'),
        'scopes?': scopes,
        'expires_at?': expires,
        'provider_account_label?': label,
      }),
    ),
    'About the token; null unless `status` is `completed`.',
  ),
});

export type Authentication = shape.Shaped<typeof authentication>;

export const waited = object('AuthWaitResponse', {
  status: noted(
    oneOf('completed', 'pending', 'timeout', 'not_found'),
    '`completed`: `token` is there. `pending`, `timeout`: nobody has signed in yet. `not_found`: the sign-in is unknown, older than ten minutes, or was refused.',
  ),
  token: noted(nullable(text), 'Access token; null unless `status` is `completed`.'),
  'detail?': noted(text, 'Why there will be no token: the error code of the provider.'),
});

export type Waited = shape.Shaped<typeof waited>;

export const finished = object('AuthFinished', {
  status: noted(oneOf('completed'), 'Always `completed`: other outcomes are errors.'),
  auth_id: noted(text, 'The sign-in that has ended.'),
});

export const tokenRecord = object('OAuthTokenSummary', {
  id: noted(uuid, 'Identifier of the token; no answer of this list holds the token itself.'),
  provider_id: noted(text, 'Name of the provider that issued the token.'),
  user_id: noted(nullable(text), "Whose token it is; null for the workspace's own."),
  provider_account_label: label,
  scopes,
  expires_at: expires,
  is_default: noted(boolean, 'True when it is preferred among the tokens of its provider and user.'),
  created_at: noted(time, 'When somebody signed in for it.'),
  updated_at: noted(time, 'When it was last refreshed or changed.'),
});

export const tokenStatus = object('OAuthTokenStatusResponse', {
  has_token: noted(boolean, 'Whether there is a token of the provider, for the user if one was named.'),
});
export const removedTokens = object('OAuthTokensRemoved', {
  deleted: noted(list(uuid), 'Identifiers of the tokens that were removed.'),
});

export const connection = object('AgentConnection', {
  id: noted(uuid, 'Identifier of the connection.'),
  agent_id: noted(text, 'Agent that uses the token.'),
  oauth_token_id: noted(uuid, 'Token that the agent uses.'),
  provider_id: noted(text, 'The `provider_id` of the provider of the token.'),
  provider_account_label: label,
  scopes,
  expires_at: expires,
  created_by: noted(text, 'Identifier of the API key that connected the agent.'),
  created_at: noted(time, 'When the agent was connected.'),
});
export const connections = object('AgentConnectionList', {
  data: noted(list(connection), 'Connections of the agent.'),
});
