import { Followers, serviceCaller } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { DeliverySweeper } from './deliveries/delivery-sweep.worker';
import { remove } from './webhook';
import { WebhookCommands } from './webhook.commands';
import { WebhooksView } from './webhooks.projection';

const AT_ONCE = 50;

/** Removes the webhooks of a workspace that is removed, with the log of what was sent to them. */
@Injectable()
export class WebhooksRemover {
  constructor(
    private readonly commands: WebhookCommands,
    private readonly pool: Pool,
    private readonly followers: Followers,
    private readonly view: WebhooksView,
    private readonly sweeper: DeliverySweeper,
  ) {}

  /** Removes some; answers how many it found. */
  async remove(tenant: string): Promise<number> {
    const { items } = await this.view.list(tenant, { limit: AT_ONCE, offset: 0 });
    for (const { webhook } of items) {
      const { position } = await this.commands.change(
        serviceCaller({ tenant, actor: 'system:webhooks' }),
        webhook.id,
        remove,
      );
      await this.followers.passed(position, [this.view.name]);
    }
    if (items.length > 0) return items.length;
    await this.sweeper.sweep();
    const { rowCount } = await this.pool.query('select from webhook_targets where tenant_id = $1 limit 1', [tenant]);
    return rowCount!;
  }
}
