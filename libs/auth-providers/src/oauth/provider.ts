import { type Aggregate, changedMembers, type DomainEvent, type Model, type Sealed } from '@fairlead/eventing';
import { InvalidProvider, ProviderNotFound } from './provider.errors';

export const AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post'] as const;
export const CHALLENGE_METHODS = ['S256', 'plain'] as const;
export const PROVIDER_TYPES = ['microsoft', 'salesforce', 'slack'] as const;
export type AuthMethod = (typeof AUTH_METHODS)[number];
type ChallengeMethod = (typeof CHALLENGE_METHODS)[number];
type ProviderType = (typeof PROVIDER_TYPES)[number];

/** A client secret that only the vault can read, and a digest that tells whether another one is the same. */
export interface ClientSecret {
  readonly sealed: Sealed;
  readonly digest: string;
}

export interface ProviderFacts {
  readonly id: string;
  readonly tenant_id: string;
  readonly organization_id: string;
  /** The tenant's own name for it, unique within the tenant. */
  readonly provider_id: string;
  readonly name: string;
  readonly client_id: string;
  readonly client_secret: ClientSecret | null;
  readonly auth_url: string;
  readonly token_url: string;
  readonly uses_pkce: boolean;
  readonly code_challenge_method: ChallengeMethod;
  readonly provider_type: ProviderType | null;
  readonly token_endpoint_auth_method: AuthMethod;
  readonly mcp_server_url: string | null;
  /** Resource indicator (RFC 8707) to ask tokens for. */
  readonly resource: string | null;
  /** From its metadata; compared with the `iss` of answers (RFC 9207). null as long as no metadata was found. */
  readonly issuer: string | null;
  /** Its metadata says that it sends `iss` with every answer. */
  readonly iss_required?: boolean;
  readonly is_dynamic_client: boolean;
}

/** Members that a PATCH may change. */
export type ProviderChange = Partial<
  Pick<
    ProviderFacts,
    | 'name'
    | 'client_id'
    | 'client_secret'
    | 'auth_url'
    | 'token_url'
    | 'uses_pkce'
    | 'code_challenge_method'
    | 'provider_type'
    | 'token_endpoint_auth_method'
    | 'issuer'
    | 'iss_required'
  >
>;

export interface Provider extends ProviderFacts {
  readonly created_at: string;
  readonly updated_at: string;
  readonly removed: boolean;
}

export type ProviderState = Provider | null;
type OAuthProviderAdded = DomainEvent<'OAuthProviderAdded', ProviderFacts>;
type OAuthProviderChanged = DomainEvent<'OAuthProviderChanged', ProviderChange>;
type OAuthProviderRemoved = DomainEvent<'OAuthProviderRemoved', Record<string, never>>;
export type ProviderEvent = OAuthProviderAdded | OAuthProviderChanged | OAuthProviderRemoved;

export const providerModel: Model<ProviderState, ProviderEvent> = {
  initial: null,
  evolve(state, event) {
    const updated_at = event.time;
    if (event.type === 'OAuthProviderAdded') {
      return { ...event.data, created_at: event.time, updated_at, removed: false };
    }
    if (!state) return state;
    if (event.type === 'OAuthProviderChanged') return { ...state, ...event.data, updated_at };
    return { ...state, updated_at, removed: true };
  },
};

export const providerAggregate: Aggregate<Provider, ProviderEvent> = {
  category: 'oauthProvider',
  model: providerModel,
  notFound: (ref) => new ProviderNotFound(ref),
};

/** Adds a provider. Its provider_id must be reserved. */
export function addProvider(facts: ProviderFacts): () => OAuthProviderAdded[] {
  return () => [{ type: 'OAuthProviderAdded', data: facts }];
}

/**
 * Changes what differs; nothing differs, no event.
 * @throws InvalidProvider when token_url moves to another host and the secret for it is not sent along: the stored one
 *   was given for the host it was sent to.
 */
export function changeProvider(wanted: ProviderChange) {
  return (provider: Provider): OAuthProviderChanged[] => {
    const data = changedMembers(provider, wanted, (a, b) => digestOf(a) === digestOf(b));
    const moves = data?.token_url !== undefined && originOf(data.token_url) !== originOf(provider.token_url);
    if (moves && provider.client_secret && !wanted.client_secret) {
      throw new InvalidProvider('token_url names another host: send client_secret with it.');
    }
    if (!data) return [];
    const another = (data.auth_url ?? data.token_url) !== undefined && provider.issuer !== null;
    // Who answers at another address is found out anew.
    const unknown = another ? { issuer: null, iss_required: false } : {};
    return [{ type: 'OAuthProviderChanged', data: { ...data, ...unknown } }];
  };
}

/** Notes the issuer of a provider that had none yet, as its metadata names it. */
export function learnIssuer(found: { readonly issuer: string; readonly iss_required: boolean }) {
  return ({ issuer }: Provider): OAuthProviderChanged[] =>
    issuer === null ? [{ type: 'OAuthProviderChanged', data: found }] : [];
}

export function removeProvider(): OAuthProviderRemoved[] {
  return [{ type: 'OAuthProviderRemoved', data: {} }];
}

/** Returns a provider as answers show it, without its secret. */
export function providerRecord(provider: Provider) {
  return {
    id: provider.id,
    organization_id: provider.organization_id,
    provider_id: provider.provider_id,
    name: provider.name,
    client_id: provider.client_id,
    auth_url: provider.auth_url,
    token_url: provider.token_url,
    uses_pkce: provider.uses_pkce,
    code_challenge_method: provider.uses_pkce ? provider.code_challenge_method : null,
    provider_type: provider.provider_type,
    mcp_server_url: provider.mcp_server_url,
    token_endpoint_auth_method: provider.token_endpoint_auth_method,
    is_dynamic_client: provider.is_dynamic_client,
    created_at: provider.created_at,
    updated_at: provider.updated_at,
  };
}

/**
 * Returns the address to which a provider sends browsers back. No other provider has it, so that one cannot pass for
 * another. `origin`: where browsers reach this service; `id`: that of the provider's stream.
 */
export function redirectUri(origin: string, id: string): string {
  return new URL(`/v2/auth/callback/${id}`, origin).href;
}

/** Returns scheme, host and port of a URL. */
export function originOf(url: string): string {
  return new URL(url).origin;
}

/** Secrets are compared by their digests, because the same one sealed again looks different. */
function digestOf(value: unknown): unknown {
  return typeof value === 'object' && value ? (value as ClientSecret).digest : value;
}
