import { Followers, serviceCaller } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { remove } from './integration';
import { IntegrationCommands } from './integration.commands';
import { INTEGRATIONS_VIEW, IntegrationsView } from './integrations.projection';

const AT_ONCE = 50;

/** Removes the integrations of a removed workspace, with their credentials. */
@Injectable()
export class IntegrationsRemover {
  constructor(
    private readonly commands: IntegrationCommands,
    private readonly followers: Followers,
    private readonly view: IntegrationsView,
  ) {}

  /** Removes some integrations and returns how many it found. */
  async remove(tenant: string): Promise<number> {
    const { items } = await this.view.list(tenant, { limit: AT_ONCE, offset: 0 });
    for (const { id } of items) {
      const { position } = await this.commands.change(
        serviceCaller({ tenant, actor: 'system:integrations' }),
        id,
        remove,
      );
      await this.followers.passed(position, [INTEGRATIONS_VIEW]);
    }
    return items.length;
  }
}
