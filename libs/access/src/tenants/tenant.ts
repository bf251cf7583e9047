import type { DomainEvent, Model } from '@fairlead/eventing';
import { TenantExists, TenantNotFound, TenantStays } from './tenant.errors';

export interface TenantFacts {
  readonly id: string;
  readonly organization_id: string;
  readonly display_name: string;
  readonly tenant_handle: string | null;
}

/**
 * `suspended`: nothing of it works until it is resumed. `removing`: everything of it is on the way to be gone, for good.
 * `removed`: it is gone.
 */
export const TENANT_STATUSES = ['active', 'suspended', 'removing', 'removed'] as const;
type TenantStatus = (typeof TENANT_STATUSES)[number];

/** Owner of everything that is stored; people call it a workspace. */
export interface Tenant extends TenantFacts {
  /** ISO 8601 with offset. */
  readonly created_at: string;
  readonly status: TenantStatus;
  /** Since when it has the status. ISO 8601 with offset. */
  readonly status_since: string;
}

export type TenantCreated = DomainEvent<'TenantCreated', TenantFacts>;
type Nothing = Record<string, never>;
export type TenantEvent =
  | TenantCreated
  | DomainEvent<'TenantSuspended', Nothing>
  | DomainEvent<'TenantResumed', Nothing>
  | DomainEvent<'TenantRemovalRequested', Nothing>
  | DomainEvent<'TenantRemoved', Nothing>;

const STATUS_AFTER = {
  TenantSuspended: 'suspended',
  TenantResumed: 'active',
  TenantRemovalRequested: 'removing',
  TenantRemoved: 'removed',
} as const;

/** Returns the status of a workspace after one of its events. */
export function statusAfter({ type }: TenantEvent): TenantStatus {
  return type === 'TenantCreated' ? 'active' : STATUS_AFTER[type];
}

/** null until it has been created. */
type TenantState = Tenant | null;

export const tenantModel: Model<TenantState, TenantEvent> = {
  initial: null,
  evolve(state, event) {
    if (event.type === 'TenantCreated') {
      return { ...event.data, created_at: event.time, status: 'active', status_since: event.time };
    }
    return state && { ...state, status: statusAfter(event), status_since: event.time };
  },
};

/** The tenant and organisation that every installation starts with. */
export const DEFAULT_TENANT: TenantFacts = {
  id: '00000000-0000-4000-8000-000000000001',
  organization_id: '00000000-0000-4000-8000-000000000000',
  display_name: 'Default',
  tenant_handle: null,
};

/** Creates a tenant under an id that is still free. @throws TenantExists */
export function createTenant(facts: TenantFacts): (state: TenantState) => TenantCreated[] {
  return (state) => {
    if (state) throw new TenantExists(`A workspace with the id ${facts.id} already exists.`);
    return [{ type: 'TenantCreated', data: facts }];
  };
}

/** Creates a tenant if it does not exist. */
export function ensureTenant(facts: TenantFacts): (state: TenantState) => TenantCreated[] {
  return (state) => (state ? [] : [{ type: 'TenantCreated', data: facts }]);
}

type Decide = (state: TenantState) => TenantEvent[];

/** Suspends a workspace until it is resumed. @throws TenantNotFound, TenantStays */
export function suspendTenant(id: string): Decide {
  return (state) => {
    const { status } = stoppable(state, id);
    if (status === 'suspended') return [];
    if (status !== 'active') throw leaving();
    return [{ type: 'TenantSuspended', data: {} }];
  };
}

/** Resumes a suspended workspace. @throws TenantNotFound, TenantStays */
export function resumeTenant(id: string): Decide {
  return (state) => {
    if (!state) throw new TenantNotFound(id);
    if (state.status === 'active') return [];
    if (state.status !== 'suspended') throw leaving();
    return [{ type: 'TenantResumed', data: {} }];
  };
}

/** Begins the removal of a workspace, for good. @throws TenantNotFound, TenantStays */
export function requestTenantRemoval(id: string): Decide {
  return (state) => {
    const { status } = stoppable(state, id);
    if (status === 'removing' || status === 'removed') return [];
    return [{ type: 'TenantRemovalRequested', data: {} }];
  };
}

/** Records that nothing of a workspace is left. */
export function completeTenantRemoval(state: TenantState): TenantEvent[] {
  return state?.status === 'removing' ? [{ type: 'TenantRemoved', data: {} }] : [];
}

/** @throws TenantNotFound, TenantStays for the workspace of the installation's own key */
function stoppable(state: TenantState, id: string): Tenant {
  if (!state) throw new TenantNotFound(id);
  if (id === DEFAULT_TENANT.id) {
    throw new TenantStays('This is the workspace of the key of the installation: it cannot be suspended or removed.');
  }
  return state;
}

function leaving(): TenantStays {
  return new TenantStays('The removal of this workspace has begun: it can be neither suspended nor resumed.');
}
