import { given } from '@fairlead/eventing/testing';
import { createTenant, DEFAULT_TENANT, ensureTenant, type TenantCreated, TenantExists, tenantModel } from './tenant';

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
    .thenState((state) => expect(state).toEqual({ ...DEFAULT_TENANT, created_at: '2026-01-01T00:00:00.000Z' }));
});
