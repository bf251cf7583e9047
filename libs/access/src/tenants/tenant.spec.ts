import { given } from '@fairlead/eventing/testing';
import {
  createTenant,
  DEFAULT_TENANT,
  ensureTenant,
  type TenantCreated,
  tenantModel,
  completeTenantRemoval,
  requestTenantRemoval,
  resumeTenant,
  suspendTenant,
} from './tenant';
import { TenantExists, TenantNotFound, TenantStays } from './tenant.errors';

const created: TenantCreated = { type: 'TenantCreated', data: DEFAULT_TENANT };

it('creates a tenant under a free id', () => {
  given(tenantModel).when(createTenant(DEFAULT_TENANT)).then(created);
  given(tenantModel, created).when(createTenant(DEFAULT_TENANT)).throws(TenantExists);
});

it('creates the default tenant once', () => {
  given(tenantModel).when(ensureTenant(DEFAULT_TENANT)).then(created);
  given(tenantModel, created).when(ensureTenant(DEFAULT_TENANT)).then();
});

it('remembers when a tenant was created', () => {
  given(tenantModel)
    .when(ensureTenant(DEFAULT_TENANT))
    .thenState((state) =>
      expect(state).toMatchObject({ ...DEFAULT_TENANT, created_at: '2026-01-01T00:00:00.000Z', status: 'active' }),
    );
});

describe('a workspace', () => {
  const facts = { ...DEFAULT_TENANT, id: '00000000-0000-4000-8000-000000000002' };
  const { id } = facts;
  const there: TenantCreated = { type: 'TenantCreated', data: facts };
  const suspended = { type: 'TenantSuspended' as const, data: {} };
  const resumed = { type: 'TenantResumed' as const, data: {} };
  const removing = { type: 'TenantRemovalRequested' as const, data: {} };
  const removed = { type: 'TenantRemoved' as const, data: {} };

  it('is suspended once, and resumed once', () => {
    given(tenantModel, there).when(suspendTenant(id)).then(suspended);
    given(tenantModel, there, suspended).when(suspendTenant(id)).then();
    given(tenantModel, there, suspended).when(resumeTenant(id)).then(resumed);
    given(tenantModel, there, suspended, resumed).when(resumeTenant(id)).then();
    given(tenantModel).when(suspendTenant(id)).throws(TenantNotFound);
    given(tenantModel).when(resumeTenant(id)).throws(TenantNotFound);
  });

  it('is removed for good, from whatever it was', () => {
    given(tenantModel, there).when(requestTenantRemoval(id)).then(removing);
    given(tenantModel, there, suspended).when(requestTenantRemoval(id)).then(removing);
    given(tenantModel, there, removing).when(requestTenantRemoval(id)).then();
    given(tenantModel, there, removing).when(resumeTenant(id)).throws(TenantStays);
    given(tenantModel, there, removing).when(suspendTenant(id)).throws(TenantStays);
    given(tenantModel, there, removing).when(completeTenantRemoval).then(removed);
    given(tenantModel, there, removing, removed).when(completeTenantRemoval).then();
    given(tenantModel, there).when(completeTenantRemoval).then();
  });

  it('of the key of the installation stays', () => {
    given(tenantModel, created).when(suspendTenant(DEFAULT_TENANT.id)).throws(TenantStays);
    given(tenantModel, created).when(requestTenantRemoval(DEFAULT_TENANT.id)).throws(TenantStays);
  });
});
