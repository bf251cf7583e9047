import type { DomainEvent, Model, Recorded } from '@fairlead/eventing';
import { same } from '../json';

/** A cluster that runs deployments and listens for them. */
export interface Listener {
  readonly id: string;
  readonly tenant_id: string;
  readonly version?: string;
  readonly compute_type: 'k8s';
  readonly compute_id: string;
  readonly compute_config: { readonly cluster_namespaces?: readonly string[] };
  readonly created_at: string;
  readonly updated_at: string;
  readonly deleted: boolean;
}

type Members = Pick<Listener, 'version' | 'compute_type' | 'compute_id' | 'compute_config'>;
export type ListenerCreated = DomainEvent<
  'ListenerCreated',
  Members & { readonly listener_id: string; readonly tenant_id: string }
>;
/** The members that changed, whole. */
export type ListenerPatched = DomainEvent<'ListenerPatched', Pick<Partial<Listener>, 'version' | 'compute_config'>>;
export type ListenerDeleted = DomainEvent<'ListenerDeleted', Record<string, never>>;
/** Everything that can be in a stream `listener-<id>`. */
export type ListenerEvent = ListenerCreated | ListenerPatched | ListenerDeleted;

/** null until it has been created. */
export type ListenerState = Listener | null;

export const listenerModel: Model<ListenerState, ListenerEvent> = {
  initial: null,
  evolve(state, event: Recorded<ListenerEvent>) {
    if (event.type === 'ListenerCreated') {
      const { listener_id: id, ...members } = event.data;
      return { id, ...members, created_at: event.time, updated_at: event.time, deleted: false };
    }
    if (!state) return state;
    const changes = event.type === 'ListenerPatched' ? event.data : { deleted: true };
    return { ...state, ...changes, updated_at: event.time };
  },
};

/** No such listener for this tenant. */
export class ListenerNotFound extends Error {
  override name = 'ListenerNotFound';
  constructor(id: string) {
    super(`Listener ID ${id} not found.`);
  }
}

/** The tenant has a listener for this compute already. */
export class ListenerTaken extends Error {
  override name = 'ListenerTaken';
  constructor(tenantId: string, computeId: string) {
    super(`Listener for workspace ID '${tenantId}' and compute ID '${computeId}' already exists.`);
  }
}

export function createListener(id: string, tenant_id: string, members: Members) {
  return (state: ListenerState): ListenerEvent[] =>
    state ? [] : [{ type: 'ListenerCreated', data: { listener_id: id, tenant_id, ...members } }];
}

/** Changes what differs from the current values; what is absent stays, within `compute_config` too. */
export function patchListener({ version, compute_config }: ListenerPatched['data']) {
  return (state: Listener): ListenerEvent[] => {
    const wanted = { version, compute_config: { ...state.compute_config, ...compute_config } };
    const changed = Object.entries(wanted).filter(
      ([member, value]) => value !== undefined && !same(value, state[member as 'version']),
    );
    return changed.length === 0 ? [] : [{ type: 'ListenerPatched', data: Object.fromEntries(changed) }];
  };
}

export function deleteListener(): ListenerEvent[] {
  return [{ type: 'ListenerDeleted', data: {} }];
}

/** A decision about a listener of one tenant. @throws ListenerNotFound */
export function ownListener<T>(tenantId: string, id: string, decide: (state: Listener) => T) {
  return (state: ListenerState): T => {
    if (!state || state.deleted || state.tenant_id !== tenantId) throw new ListenerNotFound(id);
    return decide(state);
  };
}

/** A listener as answers show it, in the specification's names. */
export function listenerRecord({ version, compute_config, ...listener }: Listener) {
  const { id, compute_type, compute_id, created_at, updated_at } = listener;
  const namespaces = { cluster_namespaces: compute_config.cluster_namespaces ?? null };
  return { version: version ?? null, compute_type, compute_id, compute_config: namespaces, id, created_at, updated_at };
}
