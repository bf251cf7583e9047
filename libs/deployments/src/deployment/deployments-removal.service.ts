import { Followers, serviceCaller } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { DeploymentCommands } from './deployment.commands';
import { ListenerCommands } from '../listener/listener.commands';
import { LISTENERS_VIEW, ListenersView } from '../listener/listener.projection';

const AT_ONCE = 50;

/** Removes the deployments and listeners of a workspace that is removed. */
@Injectable()
export class DeploymentsRemover {
  constructor(
    private readonly deployments: DeploymentCommands,
    private readonly listenerCommands: ListenerCommands,
    private readonly pool: Pool,
    private readonly followers: Followers,
    private readonly listeners: ListenersView,
  ) {}

  /**
   * Asks for the deletion of some deployments and deletes some listeners; answers how many there were. Deployments count
   * until their executor has taken them away.
   */
  async remove(tenant: string): Promise<number> {
    const asked = await this.ids('select id from deployments where tenant_id = $1 and status <> $3 limit $2', tenant, [
      'AWAITING_DELETE',
    ]);
    const caller = serviceCaller({ tenant, actor: 'system:deployments' });
    let newest = 0n;
    for (const id of asked) {
      const { position } = await this.deployments.remove(caller, id, false);
      if (position > newest) newest = position;
    }
    // Once for all: the view pauses between batches.
    if (asked.length > 0) await this.followers.passed(newest, ['deployments.view']);
    const { items } = await this.listeners.list(tenant, { limit: AT_ONCE, offset: 0 });
    for (const { id } of items) {
      const { position } = await this.listenerCommands.remove(caller, id);
      await this.followers.passed(position, [LISTENERS_VIEW]);
    }
    const left = await this.ids('select id from deployments where tenant_id = $1 limit $2', tenant);
    return left.length + items.length;
  }

  private async ids(text: string, tenant: string, more: readonly string[] = []): Promise<string[]> {
    const { rows } = await this.pool.query<{ id: string }>(text, [tenant, AT_ONCE, ...more]);
    return rows.map(({ id }) => id);
  }
}
