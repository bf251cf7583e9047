import { AggregateCommands, type Caller, type Changed, EventStore, nameStream, Quotas } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import {
  createListener,
  deleteListener,
  type Listener,
  listenerAggregate,
  type ListenerCreated,
  type ListenerEvent,
} from './listener';
import { ListenerTaken } from './listener.errors';

type Wanted = Omit<ListenerCreated['data'], 'listener_id' | 'tenant_id'>;

/** Finds and changes the listeners of a tenant. */
@Injectable()
export class ListenerCommands extends AggregateCommands<Listener, ListenerEvent> {
  constructor(
    store: EventStore,
    private readonly quotas: Quotas,
  ) {
    super(store, listenerAggregate);
  }

  /** Creates the one listener that the tenant has for a compute. @throws ListenerTaken, QuotaReached */
  add(caller: Caller, id: string, wanted: Wanted): Promise<Changed<Listener, ListenerEvent>> {
    const { tenantId } = caller;
    const { compute_id } = wanted;
    return this.quotas.within('listeners', tenantId, id, async () => {
      await this.reserve(nameOf(tenantId, compute_id), id, caller, () => new ListenerTaken(tenantId, compute_id));
      return this.run(caller, id, createListener(id, tenantId, wanted));
    });
  }

  /** Deletes a listener and frees its compute. @throws ListenerNotFound, VersionMismatch */
  async remove(caller: Caller, id: string): Promise<Changed<Listener, ListenerEvent>> {
    const removed = await this.change(caller, id, deleteListener);
    await this.release(nameOf(caller.tenantId, removed.state.compute_id), id, caller);
    return removed;
  }
}

function nameOf(tenantId: string, computeId: string): string {
  return nameStream('listenerName', tenantId, computeId);
}
