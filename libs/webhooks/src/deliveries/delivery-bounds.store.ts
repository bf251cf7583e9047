import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { WebhooksOptions } from '../webhook/webhooks.options';

const MIB = 1024 * 1024;
/** Number of new deliveries of a webhook after which its rows are counted. */
const EVERY = 100;
const MOST_COUNTED = 10_000;

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
  async keep(webhookIds: readonly string[], tx: PoolClient): Promise<void> {
    for (const id of webhookIds) {
      const added = (this.added.get(id) ?? 0) + 1;
      this.added.set(id, added);
      if (added >= Math.min(EVERY, this.options.mostPending)) await this.bound(id, tx);
    }
    if (this.added.size > MOST_COUNTED) this.added.clear();
  }

  private async bound(webhookId: string, tx: PoolClient): Promise<void> {
    const { mostPending, mostLogged, now } = this.options;
    this.added.delete(webhookId);
    await tx.query(
      `update webhook_deliveries set status = 'set_aside', finished_at = $4 where id in (${beyond("status = 'pending'", 'due_at desc, id desc')})`,
      [webhookId, mostPending, 16 * MIB, new Date(now())],
    );
    await tx.query(`delete from webhook_deliveries where id in (${beyond("status <> 'pending'", 'id desc')})`, [
      webhookId,
      mostLogged,
      64 * MIB,
    ]);
  }
}

/** Returns SQL for the ids of a webhook's deliveries beyond the first $2 of an order, or beyond $3 bytes. */
function beyond(condition: string, order: string): string {
  return `select id from (
      select id, row_number() over ordered as place, sum(pg_column_size(body)) over ordered as bytes
      from webhook_deliveries where webhook_id = $1 and ${condition} window ordered as (order by ${order})) as kept
    where place > $2 or (bytes > $3 and place > 1)`;
}
