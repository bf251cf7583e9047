import { AggregateCommands, type Caller, type Changed, EventStore, Quotas } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { v7 as uuid } from 'uuid';
import { createView, deleteView, type SavedView, savedViewAggregate, type SavedViewEvent } from './saved-view';

/** Finds and changes the saved views of a tenant. */
@Injectable()
export class SavedViewCommands extends AggregateCommands<SavedView, SavedViewEvent> {
  constructor(
    store: EventStore,
    private readonly quotas: Quotas,
  ) {
    super(store, savedViewAggregate);
  }

  /** @throws QuotaReached */
  async create(
    caller: Caller,
    wanted: Pick<SavedView, 'page' | 'name' | 'parameters'>,
  ): Promise<Changed<SavedView, SavedViewEvent>> {
    const id = caller.command?.idFor('view') ?? uuid();
    const data = { view_id: id, tenant_id: caller.tenantId, ...wanted };
    return this.quotas.within('views', caller.tenantId, id, () => this.run(caller, id, createView(data)));
  }

  /** @throws SavedViewNotFound, VersionMismatch */
  async delete(caller: Caller, id: string): Promise<void> {
    await this.change(caller, id, deleteView);
    await this.quotas.giveBack('views', id);
  }
}
