import { AggregateCommands, type Caller, type Changed, EventStore, Quotas } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import {
  add,
  type Integration,
  type IntegrationAdded,
  type IntegrationEvent,
  integrationAggregate,
  remove,
} from './integration';

/** Finds and changes the integrations of a tenant. */
@Injectable()
export class IntegrationCommands extends AggregateCommands<Integration, IntegrationEvent> {
  constructor(
    store: EventStore,
    private readonly quotas: Quotas,
  ) {
    super(store, integrationAggregate);
  }

  /** @throws InvalidIntegration, QuotaReached */
  add(caller: Caller, wanted: IntegrationAdded['data']): Promise<Changed<Integration, IntegrationEvent>> {
    const { integration_id: id } = wanted;
    return this.quotas.within('integrations', caller.tenantId, id, () => this.run(caller, id, add(wanted)));
  }

  /** @throws IntegrationNotFound, VersionMismatch */
  async remove(caller: Caller, id: string): Promise<void> {
    await this.change(caller, id, remove);
    await this.quotas.giveBack('integrations', id);
  }
}
