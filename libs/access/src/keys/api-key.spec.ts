import { effectiveScopes } from '@fairlead/api';
import { given } from '@fairlead/eventing/testing';
import {
  apiKeyModel,
  type ApiKeyEvent,
  createKey,
  type KeyFacts,
  type Manager,
  manages,
  revokeKey,
  setOperatorKey,
  type StoredFacts,
} from './api-key';
import { GrantNotHeld, KeyNotFound, LastAdminKey, UselessKey } from './api-key.errors';

const NOW = '2026-01-01T00:00:00.000Z';
const key: KeyFacts = {
  id: 'key-1',
  kind: 'tenant',
  tenant_id: 'tenant-1',
  organization_id: 'org-1',
  description: 'CI',
  scopes: ['read', 'write'],
  short_key: 'fl_abc...',
  hash: 'hash-1',
  expires_at: null,
  made_by: 'maker',
};
const organizationKey: KeyFacts = { ...key, kind: 'organization', tenant_id: null };
const operatorKey: KeyFacts = { ...key, kind: 'operator' };
const admin: Manager = {
  kind: 'tenant',
  expires_at: null,
  tenantId: 'tenant-1',
  organizationId: 'org-1',
  scopes: effectiveScopes(['admin']),
};
const organizationAdmin: Manager = { ...admin, kind: 'organization' };

const created = (data: KeyFacts): ApiKeyEvent => ({ type: 'ApiKeyCreated', data });
const revoked: ApiKeyEvent = { type: 'ApiKeyRevoked', data: {} };
const keys = (...past: ApiKeyEvent[]) => given(apiKeyModel, ...past);

describe('creating a key', () => {
  it('grants what the creator has', () => {
    keys()
      .when(createKey(key, admin, NOW))
      .then(created(key));
    keys()
      .when(createKey({ ...key, scopes: ['admin'] }, admin, NOW))
      .then(created({ ...key, scopes: ['admin'] }));
  });

  it('grants nothing the creator lacks', () => {
    keys()
      .when(createKey({ ...key, scopes: ['read', 'secrets:read'] }, admin, NOW))
      .throws(GrantNotHeld);
    const writer = { ...admin, scopes: effectiveScopes(['write']) };
    keys()
      .when(createKey({ ...key, scopes: ['admin'] }, writer, NOW))
      .throws(GrantNotHeld);
  });

  it('stays in the tenant and the organisation of the creator', () => {
    keys()
      .when(createKey({ ...key, tenant_id: 'tenant-2' }, admin, NOW))
      .throws(GrantNotHeld);
    keys()
      .when(createKey(organizationKey, admin, NOW))
      .throws(GrantNotHeld);
    keys()
      .when(createKey(organizationKey, organizationAdmin, NOW))
      .then(created(organizationKey));
    keys()
      .when(createKey({ ...organizationKey, organization_id: 'org-2' }, organizationAdmin, NOW))
      .throws(GrantNotHeld);
  });

  it('lets no key outlive its creator', () => {
    const ending: Manager = { ...admin, expires_at: '2026-01-01T00:00:03.000Z' };
    for (const expires_at of [null, '2026-01-01T00:00:03.001Z']) {
      keys()
        .when(createKey({ ...key, expires_at }, ending, NOW))
        .throws(UselessKey, 'A key ends with the key that makes it: expires_at must not be later than its own.');
    }
    const short = { ...key, expires_at: ending.expires_at };
    keys()
      .when(createKey(short, ending, NOW))
      .then(created(short));
  });

  it('makes a key that only sends requests to deployments', () => {
    const facts = { ...key, scopes: ['invoke' as const] };
    keys()
      .when(createKey(facts, { ...admin, scopes: effectiveScopes(['write']) }, NOW))
      .then(created(facts));
    expect(effectiveScopes(['invoke']).has('read')).toBe(false);
  });

  it('makes no key that could never be used', () => {
    keys()
      .when(createKey({ ...key, expires_at: NOW }, admin, NOW))
      .throws(UselessKey);
    keys()
      .when(createKey({ ...key, scopes: ['secrets:read'] }, admin, NOW))
      .throws(UselessKey);
  });
});

describe('revoking a key', () => {
  it('revokes it once', () => {
    keys(created(key)).when(revokeKey('key-1', admin)).then(revoked);
    keys(created(key), revoked).when(revokeKey('key-1', admin)).throws(KeyNotFound, 'API key ID key-1 not found.');
    keys().when(revokeKey('key-1', admin)).throws(KeyNotFound);
  });

  it('does not find keys the manager may not see', () => {
    keys(created({ ...key, tenant_id: 'tenant-2' }))
      .when(revokeKey('key-1', admin))
      .throws(KeyNotFound);
    keys(created(organizationKey)).when(revokeKey('key-1', admin)).throws(KeyNotFound);
    keys(created(organizationKey)).when(revokeKey('key-1', organizationAdmin)).then(revoked);
  });

  it('leaves the operator key, which is the last admin key', () => {
    keys(created(operatorKey)).when(revokeKey('key-1', organizationAdmin)).throws(LastAdminKey);
  });

  it('leaves when it happened in the state', () => {
    keys(created(key))
      .when(revokeKey('key-1', admin))
      .thenState((after) => {
        expect(after).toEqual({ ...key, created_at: NOW, revoked_at: '2026-01-01T00:00:01.000Z' });
      });
  });
});

describe("the operator's key", () => {
  it('is created once and replaced when its text changes', () => {
    const changed = { ...operatorKey, hash: 'hash-2' };
    keys().when(setOperatorKey(operatorKey)).then(created(operatorKey));
    keys(created(operatorKey)).when(setOperatorKey(operatorKey)).then();
    keys(created(operatorKey)).when(setOperatorKey(changed)).then(revoked, created(changed));
    keys(created(operatorKey), revoked, created(changed)).when(setOperatorKey(changed)).then();
  });
});

it('shows wide keys only to managers that reach as far', () => {
  expect(manages(admin, key)).toBe(true);
  expect(manages(organizationAdmin, key)).toBe(true);
  expect(manages(admin, operatorKey)).toBe(false);
  expect(manages({ ...organizationAdmin, organizationId: 'org-2' }, organizationKey)).toBe(false);
});

it('leaves keys that are older than the scope tokens:read what they could do', () => {
  const { made_by, ...old } = key;
  expect(made_by).toBe('maker');
  const scopesAfter = (data: StoredFacts) => {
    let scopes: readonly string[] = [];
    given(apiKeyModel, { type: 'ApiKeyCreated', data })
      .when(() => [])
      .thenState((state) => (scopes = state!.scopes));
    return scopes;
  };
  expect(scopesAfter(old)).toEqual(['read', 'write', 'tokens:read']);
  expect(scopesAfter({ ...old, scopes: ['read'] })).toEqual(['read']);
  expect(scopesAfter(key)).toEqual(['read', 'write']);
});

it('lets admin include write, and write include read and invoke, but none include secrets:read or tokens:read', () => {
  expect([...effectiveScopes(['admin'])].sort()).toEqual(['admin', 'invoke', 'read', 'write']);
  expect([...effectiveScopes(['write'])].sort()).toEqual(['invoke', 'read', 'write']);
  expect([...effectiveScopes(['read', 'secrets:read'])].sort()).toEqual(['read', 'secrets:read']);
});
