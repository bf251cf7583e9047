import { EventStore, Followers, handle, nameStream, release, streamName } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { deploymentModel, owned, requestDeletion } from './deployment';
import { releaseNames } from './deployment.names';
import { deleteListener, listenerModel, ownListener } from '../listener/listener';
import { ListenersView } from '../listener/listener.view';

const AT_ONCE = 50;

/** Removes the deployments and listeners of a workspace that is removed. */
@Injectable()
export class DeploymentsRemover {
  constructor(
    private readonly store: EventStore,
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
    for (const id of asked) await this.removeDeployment(tenant, id);
    const { items } = await this.listeners.list(tenant, { limit: AT_ONCE, offset: 0 });
    for (const { id, compute_id } of items) await this.removeListener(tenant, id, compute_id);
    const left = await this.ids('select id from deployments where tenant_id = $1 limit $2', tenant);
    return left.length + items.length;
  }

  private async removeDeployment(tenant: string, id: string): Promise<void> {
    const metadata = { tenant, actor: 'system:deployments' };
    const decide = owned(tenant, id, requestDeletion(false));
    const { state, position } = await handle(
      this.store,
      deploymentModel,
      streamName('deployment', id),
      decide,
      metadata,
    );
    await releaseNames(this.store, tenant, id, state!, metadata);
    await this.followers.passed(position, ['deployments.view']);
  }

  private async removeListener(tenant: string, id: string, computeId: string): Promise<void> {
    const metadata = { tenant, actor: 'system:deployments' };
    const stream = streamName('listener', id);
    const decide = ownListener(tenant, id, deleteListener);
    const { position } = await handle(this.store, listenerModel, stream, decide, metadata);
    await release(this.store, nameStream('listenerName', tenant, computeId), stream, metadata);
    await this.followers.passed(position, [this.listeners.name]);
  }

  private async ids(text: string, tenant: string, more: readonly string[] = []): Promise<string[]> {
    const { rows } = await this.pool.query<{ id: string }>(text, [tenant, AT_ONCE, ...more]);
    return rows.map(({ id }) => id);
  }
}
