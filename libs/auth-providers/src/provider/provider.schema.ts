import { bool, fixed, literal, note, object, optional, secret, str, webUrl } from '@fairlead/schema';
import { AUTH_METHODS, CHALLENGE_METHODS, PROVIDER_TYPES } from '../oauth/provider';

const LONGEST = 2048;
/** Stands in the path of the redirect URI, which providers compare character by character. */
const providerId = note(
  str({ min: 1, max: 128, pattern: /^[A-Za-z0-9][A-Za-z0-9._~-]*$/ }),
  'Name for paths and requests, unique in the workspace (409); it cannot change.',
);
const name = note(str({ min: 1, max: 255 }), 'Name that people see.');
const text = str({ min: 1, max: LONGEST });
const clientId = note(text, 'Client identifier that the provider gave out.');
const clientSecret = note(
  secret(str({ min: 1, max: 4096 })),
  'Client secret that the provider gave out; sealed, and in no answer, event or log.',
);
const url = webUrl({ min: 1, max: LONGEST });
const authUrl = note(url, 'Authorization endpoint, where people sign in: https; its query parameters are passed on.');
const tokenUrl = note(
  url,
  'Token endpoint: https. A change to another host needs `client_secret` in the same request.',
);
const usesPkce = 'Kept and answered; sign-ins always use PKCE.';
const challenge = 'Kept and answered when `uses_pkce` is true; sign-ins always use `S256`.';
const providerType = note(
  optional(literal(PROVIDER_TYPES)),
  'Vendor of the provider; kept and answered, without effect.',
);
const authMethod = 'How the client proves itself at the token endpoint; `none` for a public client without a secret.';

/** Body of POST /v2/auth/providers. */
export const providerRequest = object('OAuthProviderCreateRequest', {
  provider_id: providerId,
  name,
  client_id: clientId,
  client_secret: optional(clientSecret),
  auth_url: authUrl,
  token_url: tokenUrl,
  uses_pkce: note(optional(bool(), false), usesPkce),
  code_challenge_method: note(optional(literal(CHALLENGE_METHODS), 'S256'), challenge),
  provider_type: providerType,
  token_endpoint_auth_method: note(optional(literal(AUTH_METHODS), 'client_secret_post'), authMethod),
});

/** Members of PATCH /v2/auth/providers/{provider_id} that may not change. */
const fixedMembers = { provider_id: fixed(str()), mcp_server_url: fixed(str()), is_dynamic_client: fixed(bool()) };

/** Body of PATCH /v2/auth/providers/{provider_id}. */
export const providerUpdate = object('OAuthProviderUpdateRequest', {
  name: optional(name),
  client_id: optional(clientId),
  client_secret: optional(clientSecret),
  auth_url: optional(authUrl),
  token_url: optional(tokenUrl),
  uses_pkce: note(optional(bool()), usesPkce),
  code_challenge_method: note(optional(literal(CHALLENGE_METHODS)), challenge),
  provider_type: providerType,
  token_endpoint_auth_method: note(optional(literal(AUTH_METHODS)), authMethod),
  ...fixedMembers,
});

/** Body of POST /v2/auth/providers/mcp-discover. */
export const mcpRequest = object('MCPOAuthProviderCreateRequest', {
  provider_id: providerId,
  name,
  mcp_server_url: note(url, 'MCP server that publishes its metadata (RFC 9728): https.'),
});

/** Path parameter of a provider: its provider_id or its id. */
export const providerPath = object({ provider_id: note(str(), 'The `provider_id` or the `id` of a provider.') });
