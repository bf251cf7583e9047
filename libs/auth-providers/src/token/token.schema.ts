import { bool, int, list, note, object, optional, secret, str, uuid } from '@fairlead/schema';

const MOST_SCOPES = 100;
const label = str({ max: 255 });
const subject = str({ min: 1, max: 255 });
/** A scope as RFC 6749 spells it: visible ASCII without quotation marks and backslashes. */
const scope = str({ min: 1, max: 1024, pattern: /^[\x21\x23-\x5b\x5d-\x7e]+$/ });

/** Body of POST /v2/auth/authenticate. */
export const authenticateRequest = object('AuthAuthenticateRequest', {
  user_id: note(optional(subject), "Whose token is wanted, in words of the client; absent: the workspace's own."),
  ls_user_id: note(optional(subject), 'Second name of `user_id`, used when that is absent.'),
  agent_id: note(optional(subject), 'Agent that wants to use the token; it has to be connected with it.'),
  provider: note(str({ min: 1 }), 'The `provider_id` or the `id` of a provider.'),
  scopes: note(list(scope, { max: MOST_SCOPES }), 'Scopes that the token must have, as the provider spells them.'),
  force_new: note(optional(bool(), false), 'True: begin a sign-in although there is a token, for another account.'),
  token_id: note(optional(uuid()), 'Only this token; absent: the service chooses one that has the scopes.'),
  is_default: note(optional(bool(), true), 'Whether the token of a new sign-in becomes the default of its user.'),
});

/** Body of POST /v2/auth/callback/{provider_id}. */
export const finalizeRequest = object('OAuthFinalizeRequest', {
  code: note(secret(str({ min: 1 })), 'Parameter `code` of the address that the provider sent the browser to.'),
  state: note(secret(str({ min: 1 })), 'Parameter `state` of that address.'),
  iss: note(optional(str()), 'Parameter `iss` of that address (RFC 9207), if it has one.'),
});

export const startQuery = object({
  state: note(optional(secret(str())), 'Names the sign-in; part of the `url` of `authenticate`.'),
});

export const callbackQuery = object({
  code: note(optional(secret(str())), 'Authorization code, from the provider.'),
  state: note(optional(secret(str())), 'Names the sign-in, from the provider.'),
  error: note(optional(str()), 'Why the provider refused, as an error code (RFC 6749).'),
  error_description: note(optional(str()), 'Why the provider refused, in words; not repeated in answers.'),
  iss: note(optional(str()), 'Issuer of the answer (RFC 9207).'),
});

export const waitPath = object({ auth_id: note(str(), 'The `auth_id` that `authenticate` answered.') });
export const waitQuery = object({
  timeout: optional(note(int({ ge: 0 }), 'Longest time to wait, in seconds; more than 300 counts as 300.'), 30),
});

export const tokensQuery = object({
  provider_id: note(optional(str()), 'Only tokens of this provider, by its `provider_id` or `id`.'),
  user_id: note(optional(subject), 'Only tokens of this user.'),
});
export const providerTokensQuery = object({
  provider_id: note(str(), 'The `provider_id` or the `id` of a provider.'),
  user_id: note(optional(subject), 'Only tokens of this user; absent: those of all.'),
});
export const tokenPath = object({
  token_id: note(str(), 'The `id` of a token of this workspace, never the token itself.'),
});

/** Body of PATCH /v2/auth/tokens/{token_id}/metadata. */
export const tokenUpdate = object('OAuthTokenUpdateRequest', {
  provider_account_label: note(optional(label), 'Name of the account, for people who choose among tokens.'),
  is_default: note(optional(bool()), 'True: prefer this token among those of its provider and user.'),
});

export const agentPath = object({ agent_id: note(subject, 'The agent, in words of the client.') });
export const connectionPath = object({
  agent_id: note(subject, 'The agent, in words of the client.'),
  connection_id: note(str(), 'The `id` of a connection of the agent.'),
});
export const connectionRequest = object('CreateAgentConnectionRequest', {
  oauth_token_id: note(str({ min: 1 }), 'The `id` of the token that the agent may use.'),
});
