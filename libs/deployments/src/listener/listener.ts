import { type Aggregate, changedMembers, type DomainEvent, type Model, type Recorded } from '@fairlead/eventing';
import { requireSame } from '@fairlead/schema';
import { ListenerNotFound } from './listener.errors';

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
  readonly removed: boolean;
}

type Members = Pick<Listener, 'version' | 'compute_type' | 'compute_id' | 'compute_config'>;
export type ListenerCreated = DomainEvent<
  'ListenerCreated',
  Members & { readonly listener_id: string; readonly tenant_id: string }
>;
/** The members that changed, whole. */
type ListenerPatched = DomainEvent<'ListenerPatched', Pick<Partial<Listener>, 'version' | 'compute_config'>>;
type ListenerDeleted = DomainEvent<'ListenerDeleted', Record<string, never>>;
/** Everything that can be in a stream `listener-<id>`. */
export type ListenerEvent = ListenerCreated | ListenerPatched | ListenerDeleted;

/** null until it has been created. */
type ListenerState = Listener | null;

export const listenerModel: Model<ListenerState, ListenerEvent> = {
  initial: null,
  evolve(state, event: Recorded<ListenerEvent>) {
    if (event.type === 'ListenerCreated') {
      const { listener_id: id, ...members } = event.data;
      return { id, ...members, created_at: event.time, updated_at: event.time, removed: false };
    }
    if (!state) return state;
    const changes = event.type === 'ListenerPatched' ? event.data : { removed: true };
    return { ...state, ...changes, updated_at: event.time };
  },
};

export const listenerAggregate: Aggregate<Listener, ListenerEvent> = {
  category: 'listener',
  model: listenerModel,
  notFound: (id) => new ListenerNotFound(id),
};

export function createListener(id: string, tenant_id: string, members: Members) {
  return (state: ListenerState): ListenerEvent[] =>
    state ? [] : [{ type: 'ListenerCreated', data: { listener_id: id, tenant_id, ...members } }];
}

/**
 * Changes what differs from the current values; what is absent stays, within `compute_config` too.
 * @throws BadRequest for another cluster
 */
export function patchListener(sent: Partial<Members>) {
  return (state: Listener): ListenerEvent[] => {
    const { version, compute_config, ...others } = sent;
    requireSame(others, state);
    const wanted = { version, compute_config: { ...state.compute_config, ...compute_config } };
    const data = changedMembers(state, wanted);
    return data ? [{ type: 'ListenerPatched', data }] : [];
  };
}

export function deleteListener(): ListenerEvent[] {
  return [{ type: 'ListenerDeleted', data: {} }];
}

/** A listener as answers show it, in the specification's names. */
export function listenerRecord({ version, compute_config, ...listener }: Listener) {
  const { id, compute_type, compute_id, created_at, updated_at } = listener;
  const namespaces = { cluster_namespaces: compute_config.cluster_namespaces ?? null };
  return { version: version ?? null, compute_type, compute_id, compute_config: namespaces, id, created_at, updated_at };
}
