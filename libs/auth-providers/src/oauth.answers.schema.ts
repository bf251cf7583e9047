import { shape } from '@fairlead/api';
import { AUTH_METHODS, CHALLENGE_METHODS, PROVIDER_TYPES } from './provider';

const { boolean, list, noted, nullable, object, oneOf, text, time, uuid } = shape;

export const provider = object('OAuthProvider', {
  id: uuid,
  organization_id: uuid,
  provider_id: text,
  name: text,
  client_id: text,
  auth_url: text,
  token_url: text,
  uses_pkce: boolean,
  code_challenge_method: nullable(oneOf(...CHALLENGE_METHODS)),
  provider_type: nullable(oneOf(...PROVIDER_TYPES)),
  mcp_server_url: nullable(text),
  token_endpoint_auth_method: oneOf(...AUTH_METHODS),
  is_dynamic_client: boolean,
  created_at: time,
  updated_at: time,
});

const scopes = list(text);

export const authentication = object('AuthAuthenticateResponse', {
  status: oneOf('completed', 'pending', 'connection_required', 'token_expired'),
  url: noted(nullable(text), 'Where a person signs in; null when there is a token.'),
  auth_id: nullable(text),
  token: nullable(text),
  user_id: nullable(text),
  metadata: nullable(
    object('AuthTokenMetadata', {
      token_id: uuid,
      'scopes?': scopes,
      'expires_at?': nullable(time),
      'provider_account_label?': nullable(text),
    }),
  ),
});

export const waited = object('AuthWaitResponse', {
  status: oneOf('completed', 'pending', 'timeout', 'not_found'),
  token: nullable(text),
  'detail?': noted(text, 'Why there will be no token.'),
});

export const finished = object('AuthFinished', { status: oneOf('completed'), auth_id: text });

export const tokenRecord = object('OAuthTokenSummary', {
  id: uuid,
  provider_id: text,
  user_id: nullable(text),
  provider_account_label: nullable(text),
  scopes,
  expires_at: nullable(time),
  is_default: boolean,
  created_at: time,
  updated_at: time,
});

export const tokenStatus = object('OAuthTokenStatusResponse', { has_token: boolean });
export const removedTokens = object('OAuthTokensRemoved', { deleted: list(uuid) });

export const connection = object('AgentConnection', {
  id: uuid,
  agent_id: text,
  oauth_token_id: uuid,
  provider_id: text,
  provider_account_label: nullable(text),
  scopes,
  expires_at: nullable(time),
  created_by: text,
  created_at: time,
});
export const connections = object('AgentConnectionList', { data: list(connection) });
