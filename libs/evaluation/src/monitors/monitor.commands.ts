import { AggregateCommands, type Caller, type Changed, EventStore, Quotas, serviceCaller } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { v7 as uuid } from 'uuid';
import type { MonitorState } from '@fairlead/contracts';
import {
  createMonitor,
  deleteMonitor,
  type Look,
  type Monitor,
  monitorAggregate,
  type MonitorEvent,
  noteState,
} from './monitor';

type Wanted = Omit<Parameters<typeof createMonitor>[0], 'monitor_id' | 'tenant_id'>;

/** Finds and changes the monitors of a tenant. */
@Injectable()
export class MonitorCommands extends AggregateCommands<Monitor, MonitorEvent> {
  constructor(
    store: EventStore,
    private readonly quotas: Quotas,
  ) {
    super(store, monitorAggregate);
  }

  /** @throws QuotaReached, InvalidMonitor */
  async create(caller: Caller, wanted: Wanted): Promise<Changed<Monitor, MonitorEvent>> {
    const id = caller.command?.idFor('monitor') ?? uuid();
    const data = { monitor_id: id, tenant_id: caller.tenantId, ...wanted };
    return this.quotas.within('monitors', caller.tenantId, id, () => this.run(caller, id, createMonitor(data)));
  }

  /** @throws MonitorNotFound, VersionMismatch */
  async delete(caller: Caller, id: string): Promise<void> {
    await this.change(caller, id, deleteMonitor('requested'));
    await this.quotas.giveBack('monitors', id);
  }

  /** Ends a monitor whose project is gone. */
  async end({ id, tenant_id: tenant }: Monitor): Promise<void> {
    const end = (state: Monitor | null) => (!state || state.removed ? [] : deleteMonitor('project deleted')(state));
    await this.run(ofMonitors(tenant), id, end);
    await this.quotas.giveBack('monitors', id);
  }

  /** Notes the state that a look has led to; another process may have done so already. */
  async noteState(seen: Monitor, state: MonitorState, look: Look): Promise<void> {
    await this.run(ofMonitors(seen.tenant_id), seen.id, noteState(seen, state, look));
  }
}

function ofMonitors(tenant: string): Caller {
  return serviceCaller({ tenant, actor: 'system:monitors' });
}
