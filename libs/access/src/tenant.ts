import type { DomainEvent, Model } from '@fairlead/eventing';

export interface TenantFacts {
  readonly id: string;
  readonly organization_id: string;
  readonly display_name: string;
  readonly tenant_handle: string | null;
}

/** Owner of everything that is stored; people call it a workspace. */
export interface Tenant extends TenantFacts {
  /** ISO 8601 with offset. */
  readonly created_at: string;
}

export type TenantCreated = DomainEvent<'TenantCreated', TenantFacts>;

export const tenantModel: Model<Tenant | undefined, TenantCreated> = {
  initial: undefined,
  evolve: (_, { data, time }) => ({ ...data, created_at: time }),
};

/** The id or the handle of a new tenant is in use. */
export class TenantExists extends Error {
  override readonly name = 'TenantExists';
}

/** The tenant and organisation that every installation starts with. */
export const DEFAULT_TENANT: TenantFacts = {
  id: '00000000-0000-4000-8000-000000000001',
  organization_id: '00000000-0000-4000-8000-000000000000',
  display_name: 'Default',
  tenant_handle: null,
};

/** Creates a tenant under an id that is still free. @throws TenantExists */
export function createTenant(facts: TenantFacts): (state: Tenant | undefined) => TenantCreated[] {
  return (state) => {
    if (state) throw new TenantExists(`A workspace with the id ${facts.id} already exists.`);
    return [{ type: 'TenantCreated', data: facts }];
  };
}

/** Creates a tenant unless it is there. */
export function ensureTenant(facts: TenantFacts): (state: Tenant | undefined) => TenantCreated[] {
  return (state) => (state ? [] : [{ type: 'TenantCreated', data: facts }]);
}
