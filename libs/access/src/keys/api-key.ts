import type { DomainEvent, Model } from '@fairlead/eventing';
import { effectiveScopes, type Scope } from '@fairlead/api';
import { GrantNotHeld, KeyNotFound, LastAdminKey, UselessKey } from './api-key.errors';

/**
 * Where a key may act: in one tenant, in every tenant of its organisation, or, as the one key that the operator of the
 * installation sets, in every tenant there is.
 */
type KeyKind = 'tenant' | 'organization' | 'operator';

export interface KeyFacts {
  readonly id: string;
  readonly kind: KeyKind;
  /** Tenant of requests that name none; null for organisation keys. */
  readonly tenant_id: string | null;
  readonly organization_id: string;
  readonly description: string;
  readonly scopes: readonly Scope[];
  /** A part of the key by which people recognise it. */
  readonly short_key: string;
  /** HMAC of the key: `Vault.digest`. */
  readonly hash: string;
  /** ISO 8601 with offset, null for never. */
  readonly expires_at: string | null;
  /** The key that made it, with which it ends; null for the operator's key and where it is not known. */
  readonly made_by: string | null;
}

/** Keys that were made before makers were recorded have none. */
export type StoredFacts = Omit<KeyFacts, 'made_by'> & { readonly made_by?: string | null };

export interface ApiKey extends KeyFacts {
  readonly created_at: string;
  readonly revoked_at: string | null;
}

type ApiKeyCreated = DomainEvent<'ApiKeyCreated', StoredFacts>;
type ApiKeyRevoked = DomainEvent<'ApiKeyRevoked', Record<string, never>>;
export type ApiKeyEvent = ApiKeyCreated | ApiKeyRevoked;

/** null until it has been created. */
type ApiKeyState = ApiKey | null;

export const apiKeyModel: Model<ApiKeyState, ApiKeyEvent> = {
  initial: null,
  evolve(state, event) {
    if (event.type === 'ApiKeyCreated') return { ...factsOf(event.data), created_at: event.time, revoked_at: null };
    return state && { ...state, revoked_at: event.time };
  },
};

/** The facts of a key. One without a maker is older than `tokens:read`, and could read tokens if it could write. */
export function factsOf(data: StoredFacts): KeyFacts {
  if (data.made_by !== undefined) return { ...data, made_by: data.made_by };
  const mayWrite = effectiveScopes(data.scopes).has('write');
  const scopes = mayWrite ? [...new Set<Scope>([...data.scopes, 'tokens:read'])] : data.scopes;
  return { ...data, scopes, made_by: null };
}

/** Tenant of a request about the organisation that names none; nothing belongs to it. */
export const NO_TENANT = '00000000-0000-0000-0000-000000000000';

/** Id of the operator's key, whichever text it has at the time. */
export const OPERATOR_KEY_ID = '00000000-0000-4000-8000-000000000002';

/**
 * The caller of a request that manages keys: its scopes and tenant, where the acting key may act, and when that key
 * ends.
 */
export interface Manager {
  readonly kind: KeyKind;
  readonly expires_at: string | null;
  readonly tenantId: string;
  readonly organizationId: string;
  readonly scopes: ReadonlySet<Scope>;
}

/** True when the manager may see and revoke the key. Narrow keys do not see the wider ones. */
export function manages(manager: Manager, key: KeyFacts): boolean {
  if (key.organization_id !== manager.organizationId) return false;
  return key.kind === 'tenant' ? key.tenant_id === manager.tenantId : manager.kind !== 'tenant';
}

/**
 * Creates a key that can do no more than its creator, and for no longer. `now` is ISO 8601.
 * @throws UselessKey when it has expired already, would expire after its creator, or could do nothing.
 * @throws GrantNotHeld
 */
export function createKey(facts: KeyFacts, creator: Manager, now: string): () => ApiKeyCreated[] {
  return () => {
    const granted = effectiveScopes(facts.scopes);
    if (!granted.has('read') && !granted.has('invoke')) {
      throw new UselessKey('scopes must hold at least one of read, write, admin and invoke.');
    }
    if (facts.expires_at !== null && Date.parse(facts.expires_at) <= Date.parse(now)) {
      throw new UselessKey('expires_at must be in the future.');
    }
    if (creator.expires_at !== null && !(endOf(facts) <= endOf(creator))) {
      throw new UselessKey('A key ends with the key that makes it: expires_at must not be later than its own.');
    }
    if (![...granted].every((scope) => creator.scopes.has(scope)) || !manages(creator, facts)) {
      throw new GrantNotHeld();
    }
    return [{ type: 'ApiKeyCreated', data: facts }];
  };
}

/** Returns the end of a key (milliseconds since 1970). */
function endOf({ expires_at }: Pick<KeyFacts, 'expires_at'>): number {
  return expires_at === null ? Infinity : Date.parse(expires_at);
}

/**
 * Revokes a key for good, and with it the keys that it made and those that they made: `apiKeysProjection` ends them.
 * @throws KeyNotFound also for a key that is revoked already or that the manager may not see.
 * @throws LastAdminKey
 */
export function revokeKey(id: string, manager: Manager): (state: ApiKeyState) => ApiKeyRevoked[] {
  return (state) => {
    if (!state || state.revoked_at !== null || !manages(manager, state)) throw new KeyNotFound(id);
    if (state.kind === 'operator') throw new LastAdminKey();
    return [{ type: 'ApiKeyRevoked', data: {} }];
  };
}

/** Revokes a key whose workspace is removed; one that is revoked already stays so. */
export function endKey(state: ApiKeyState): ApiKeyRevoked[] {
  return state?.revoked_at === null ? [{ type: 'ApiKeyRevoked', data: {} }] : [];
}

/** Makes `facts` the operator's key: the former text is revoked, the same text again changes nothing. */
export function setOperatorKey(facts: KeyFacts): (state: ApiKeyState) => ApiKeyEvent[] {
  return (state) => {
    if (state?.hash === facts.hash) return [];
    const created: ApiKeyCreated = { type: 'ApiKeyCreated', data: facts };
    return state ? [{ type: 'ApiKeyRevoked', data: {} }, created] : [created];
  };
}

/** Returns the key with which a key ends; null for keys that the operator's key made, because these stay. */
export function endsWith(data: unknown): string | null {
  const { made_by } = data as Partial<KeyFacts>;
  return made_by === OPERATOR_KEY_ID ? null : (made_by ?? null);
}
