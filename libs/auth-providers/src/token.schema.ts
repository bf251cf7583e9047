import { bool, int, list, note, object, optional, secret, str, uuid } from '@fairlead/schema';

const MOST_SCOPES = 100;
const label = str({ max: 255 });
const subject = str({ min: 1, max: 255 });
/** A scope as RFC 6749 spells it: visible ASCII without quotation marks and backslashes. */
const scope = str({ min: 1, max: 1024, pattern: /^[\x21\x23-\x5b\x5d-\x7e]+$/ });

/** Body of POST /v2/auth/authenticate. */
export const authenticateRequest = object(
  {
    user_id: optional(subject),
    ls_user_id: optional(subject),
    agent_id: optional(subject),
    provider: str({ min: 1 }),
    scopes: list(scope, { max: MOST_SCOPES }),
    force_new: optional(bool(), false),
    token_id: optional(uuid()),
    is_default: optional(bool(), true),
  },
  'AuthAuthenticateRequest',
);

/** Body of POST /v2/auth/callback/{provider_id}. */
export const finalizeRequest = object(
  { code: secret(str({ min: 1 })), state: secret(str({ min: 1 })), iss: optional(str()) },
  'OAuthFinalizeRequest',
);

export const startQuery = object({ state: optional(secret(str())) });

export const callbackQuery = object({
  code: optional(secret(str())),
  state: optional(secret(str())),
  error: optional(str()),
  error_description: optional(str()),
  iss: optional(str()),
});

export const waitPath = object({ auth_id: str() });
export const waitQuery = object({ timeout: optional(note(int({ ge: 0 }), 'Seconds to wait, 300 at most.'), 30) });

export const tokensQuery = object({ provider_id: optional(str()), user_id: optional(subject) });
export const providerTokensQuery = object({ provider_id: str(), user_id: optional(subject) });
export const tokenPath = object({ token_id: str() });

/** Body of PATCH /v2/auth/tokens/{token_id}/metadata. */
export const tokenUpdate = object(
  { provider_account_label: optional(label), is_default: optional(bool()) },
  'OAuthTokenUpdateRequest',
);

export const agentPath = object({ agent_id: subject });
export const connectionPath = object({ agent_id: subject, connection_id: str() });
export const connectionRequest = object({ oauth_token_id: str({ min: 1 }) }, 'CreateAgentConnectionRequest');
