import { type Aggregate, changedMembers, type DomainEvent, type Model, type Sealed } from '@fairlead/eventing';
import { ConnectionNotFound, TokenNotFound } from './token.errors';

const MARGIN_MS = 60_000;

/** The answer of a token endpoint, encrypted. */
export interface SealedGrant {
  readonly access_token: Sealed;
  readonly refresh_token: Sealed | null;
  /** ISO 8601. */
  readonly obtained_at: string;
  /** ISO 8601, null when the provider does not say. */
  readonly expires_at: string | null;
  /** Scopes that the provider granted. */
  readonly scopes: readonly string[];
}

export interface TokenGrant extends SealedGrant {
  readonly id: string;
  readonly tenant_id: string;
  /** Id of the provider's stream. */
  readonly provider: string;
  readonly provider_id: string;
  /** Owner of the token, as the caller names users; null for a token of the tenant. */
  readonly user_id: string | null;
  /** Scopes that were asked for; providers may rename scopes or leave some out. */
  readonly requested_scopes: readonly string[];
  /** Origin of the token endpoint: a refresh token goes nowhere else. */
  readonly issued_by: string;
  /** True for the token that is preferred among those of its provider and user. */
  readonly is_default: boolean;
}

/** An agent that uses a token. */
export interface Connection {
  readonly connection_id: string;
  readonly agent_id: string;
  readonly created_by: string;
}

export interface Token extends TokenGrant {
  readonly provider_account_label: string | null;
  readonly connections: readonly (Connection & { readonly created_at: string })[];
  readonly created_at: string;
  readonly updated_at: string;
  readonly removed: boolean;
}

interface TokenChange {
  readonly provider_account_label?: string;
  readonly is_default?: boolean;
}

export type TokenState = Token | null;
type OAuthTokenGranted = DomainEvent<'OAuthTokenGranted', TokenGrant>;
type OAuthTokenRefreshed = DomainEvent<'OAuthTokenRefreshed', SealedGrant>;
/** The provider no longer accepts the refresh token. */
type OAuthTokenRefreshRefused = DomainEvent<'OAuthTokenRefreshRefused', { readonly error: string }>;
type OAuthTokenChanged = DomainEvent<'OAuthTokenChanged', TokenChange>;
type OAuthTokenConnected = DomainEvent<'OAuthTokenConnected', Connection>;
type OAuthTokenDisconnected = DomainEvent<'OAuthTokenDisconnected', { readonly connection_id: string }>;
type OAuthTokenRemoved = DomainEvent<'OAuthTokenRemoved', Record<string, never>>;
export type TokenEvent =
  | OAuthTokenGranted
  | OAuthTokenRefreshed
  | OAuthTokenRefreshRefused
  | OAuthTokenChanged
  | OAuthTokenConnected
  | OAuthTokenDisconnected
  | OAuthTokenRemoved;

export const tokenModel: Model<TokenState, TokenEvent> = {
  initial: null,
  evolve(state, event) {
    const updated_at = event.time;
    if (event.type === 'OAuthTokenGranted') {
      const kept = state ?? { provider_account_label: null, connections: [], created_at: event.time };
      return { ...kept, ...event.data, updated_at, removed: false };
    }
    if (!state) return state;
    switch (event.type) {
      case 'OAuthTokenRefreshed':
      case 'OAuthTokenChanged':
        return { ...state, ...event.data, updated_at };
      case 'OAuthTokenRefreshRefused':
        return { ...state, refresh_token: null, updated_at };
      case 'OAuthTokenConnected':
        return { ...state, connections: [...state.connections, { ...event.data, created_at: event.time }], updated_at };
      case 'OAuthTokenDisconnected': {
        const left = state.connections.filter(({ connection_id }) => connection_id !== event.data.connection_id);
        return { ...state, connections: left, updated_at };
      }
      case 'OAuthTokenRemoved':
        return { ...state, updated_at, removed: true };
    }
  },
};

export const tokenAggregate: Aggregate<Token, TokenEvent> = {
  category: 'oauthToken',
  model: tokenModel,
  notFound: (id) => new TokenNotFound(id),
};

/** Stores a token, or the new consent to an existing one, and connects the agent that asked for it. */
export function grantToken(grant: TokenGrant, agent?: Connection) {
  return (state: TokenState): TokenEvent[] => [
    { type: 'OAuthTokenGranted', data: grant },
    ...(agent ? connection(state, agent) : []),
  ];
}

/** Stores the result of a refresh. Without a new refresh token, the old one is kept. */
export function refreshToken(grant: SealedGrant) {
  return (token: Token): OAuthTokenRefreshed[] => {
    const refresh_token = grant.refresh_token ?? token.refresh_token;
    return [{ type: 'OAuthTokenRefreshed', data: { ...grant, refresh_token } }];
  };
}

/** Deletes a refresh token that the provider no longer accepts. */
export function refuseRefresh(error: string) {
  return ({ refresh_token }: Token): OAuthTokenRefreshRefused[] =>
    refresh_token ? [{ type: 'OAuthTokenRefreshRefused', data: { error } }] : [];
}

/** Changes the members that differ. No event is written when none does. */
export function changeToken(wanted: TokenChange) {
  return (token: Token): OAuthTokenChanged[] => {
    // Being the default is said again, because another token may have become it since.
    const data = changedMembers(token, wanted, (sent, current) => sent !== true && sent === current);
    return data ? [{ type: 'OAuthTokenChanged', data }] : [];
  };
}

/** Connects an agent with a token; one that is connected stays as it is. */
export function connectAgent(agent: Connection) {
  return (token: Token): OAuthTokenConnected[] => connection(token, agent);
}

/** @throws ConnectionNotFound */
export function disconnectAgent(agentId: string, connectionId: string) {
  return (state: TokenState): OAuthTokenDisconnected[] => {
    const known = state?.connections.find(({ connection_id }) => connection_id === connectionId);
    if (!state || state.removed || known?.agent_id !== agentId) throw new ConnectionNotFound(connectionId);
    return [{ type: 'OAuthTokenDisconnected', data: { connection_id: connectionId } }];
  };
}

export function removeToken(): OAuthTokenRemoved[] {
  return [{ type: 'OAuthTokenRemoved', data: {} }];
}

/** Returns whether a token has these scopes. */
export function covers({ scopes, requested_scopes }: Token, wanted: readonly string[]): boolean {
  return wanted.every((scope) => scopes.includes(scope) || requested_scopes.includes(scope));
}

/** Returns whether an access token has expired at `now`. */
export function hasEnded({ expires_at }: SealedGrant, now = Date.now()): boolean {
  return expires_at !== null && Date.parse(expires_at) <= now;
}

/** True when a token should be refreshed: in its last minute, or in its second half when it lives for less than two. */
export function isEnding({ obtained_at, expires_at }: SealedGrant, now = Date.now()): boolean {
  if (expires_at === null) return false;
  const end = Date.parse(expires_at);
  return end - now <= Math.min(MARGIN_MS, (end - Date.parse(obtained_at)) / 2);
}

/** Returns a token as lists show it, without its value. */
export function tokenSummary(token: Token) {
  const { id, provider_id, user_id, provider_account_label, scopes, expires_at, is_default } = token;
  const { created_at, updated_at } = token;
  return {
    id,
    provider_id,
    user_id,
    provider_account_label,
    scopes,
    expires_at,
    is_default,
    created_at,
    updated_at,
  };
}

function connection(state: TokenState, agent: Connection): OAuthTokenConnected[] {
  const known = state?.connections.some(({ agent_id }) => agent_id === agent.agent_id);
  return known ? [] : [{ type: 'OAuthTokenConnected', data: agent }];
}
