import { bool, literal, object, optional, secret, str } from '@fairlead/schema';
import { AUTH_METHODS, CHALLENGE_METHODS, PROVIDER_TYPES } from './provider';

const LONGEST = 2048;
/** Stands in the path of the redirect URI, which providers compare character by character. */
const providerId = str({ min: 1, max: 128, pattern: /^[A-Za-z0-9][A-Za-z0-9._~-]*$/ });
const name = str({ min: 1, max: 255 });
const text = str({ min: 1, max: LONGEST });
const clientSecret = secret(str({ min: 1, max: 4096 }));

/** Body of POST /v2/auth/providers. */
export const providerRequest = object(
  {
    provider_id: providerId,
    name,
    client_id: text,
    client_secret: optional(clientSecret),
    auth_url: text,
    token_url: text,
    uses_pkce: optional(bool(), false),
    code_challenge_method: optional(literal(CHALLENGE_METHODS), 'S256'),
    provider_type: optional(literal(PROVIDER_TYPES)),
    token_endpoint_auth_method: optional(literal(AUTH_METHODS), 'client_secret_post'),
  },
  'OAuthProviderCreateRequest',
);

/** Body of PATCH /v2/auth/providers/{provider_id}. */
export const providerUpdate = object(
  {
    name: optional(name),
    client_id: optional(text),
    client_secret: optional(clientSecret),
    auth_url: optional(text),
    token_url: optional(text),
    uses_pkce: optional(bool()),
    code_challenge_method: optional(literal(CHALLENGE_METHODS)),
  },
  'OAuthProviderUpdateRequest',
);

/** Body of POST /v2/auth/providers/mcp-discover. */
export const mcpRequest = object(
  { provider_id: providerId, name, mcp_server_url: text },
  'MCPOAuthProviderCreateRequest',
);

/** What stands in a path for a provider: its provider_id or its id. */
export const providerPath = object({ provider_id: str() });
