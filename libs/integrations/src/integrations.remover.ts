import { EventStore, Followers, handle, streamName } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { integrationModel, owned, remove } from './integration';
import { IntegrationsView } from './integrations.view';

const AT_ONCE = 50;

/** Removes the integrations of a workspace that is removed; their credentials go with them. */
@Injectable()
export class IntegrationsRemover {
  constructor(
    private readonly store: EventStore,
    private readonly followers: Followers,
    private readonly view: IntegrationsView,
  ) {}

  /** Removes some; answers how many it found. */
  async remove(tenant: string): Promise<number> {
    const { items } = await this.view.list(tenant, { limit: AT_ONCE, offset: 0 });
    for (const { id } of items) {
      const metadata = { tenant, actor: 'system:integrations' };
      const decide = owned(tenant, id, remove);
      const stream = streamName('integration', id);
      const { position } = await handle(this.store, integrationModel, stream, decide, metadata);
      await this.followers.passed(position, [this.view.name]);
    }
    return items.length;
  }
}
