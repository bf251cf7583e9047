import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { ofWorkspace } from './delivery.queries';
import { WebhooksOptions } from '../webhook/webhooks.options';

const MIB = 1024 * 1024;
/** Number of new deliveries of a webhook after which its rows are counted. */
const EVERY = 100;
const MOST_COUNTED = 10_000;

/** Whose a new delivery is. */
interface Delivery {
  readonly webhook_id: string;
  readonly tenant_id: string;
}

/** Limits the waiting deliveries and the log of each webhook. */
@Injectable()
export class DeliveryBounds {
  private readonly added = new Map<string, number>();

  constructor(private readonly options: WebhooksOptions) {}

  /**
   * Applies the limits after new deliveries, in the transaction that wrote them. Of too many waiting deliveries, the
   * longest due are set aside: they stay in the log and can be sent on request. The oldest entries of a log that is too
   * long are deleted.
   */
  async keep(deliveries: readonly Delivery[], tx: PoolClient): Promise<void> {
    for (const delivery of deliveries) {
      const added = (this.added.get(delivery.webhook_id) ?? 0) + 1;
      this.added.set(delivery.webhook_id, added);
      if (added >= Math.min(EVERY, this.options.mostPending)) await this.bound(delivery, tx);
    }
    if (this.added.size > MOST_COUNTED) this.added.clear();
  }

  private async bound({ webhook_id, tenant_id }: Delivery, tx: PoolClient): Promise<void> {
    const { mostPending, mostLogged, now } = this.options;
    this.added.delete(webhook_id);
    await tx.query(
      `update webhook_deliveries set status = 'set_aside', finished_at = $5
       where ${ofWorkspace('$4')} and id in (${beyond("status = 'pending'", 'due_at desc, id desc')})`,
      [webhook_id, mostPending, 16 * MIB, tenant_id, new Date(now())],
    );
    await tx.query(
      `delete from webhook_deliveries
       where ${ofWorkspace('$4')} and id in (${beyond("status <> 'pending'", 'id desc')})`,
      [webhook_id, mostLogged, 64 * MIB, tenant_id],
    );
  }
}

/** Returns SQL for the ids of the deliveries of a webhook of workspace $4 beyond the first $2 of an order, or beyond $3 bytes. */
function beyond(condition: string, order: string): string {
  return `select id from (
      select id, row_number() over ordered as place, sum(pg_column_size(body)) over ordered as bytes
      from webhook_deliveries where webhook_id = $1 and ${ofWorkspace('$4')} and ${condition} window ordered as (order by ${order})) as kept
    where place > $2 or (bytes > $3 and place > 1)`;
}
