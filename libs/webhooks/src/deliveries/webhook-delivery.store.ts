import { transaction } from '@fairlead/postgres';
import type { WorkItem } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { Pool, type PoolClient } from 'pg';
import { v7 as uuid } from 'uuid';
import { DeliveryBounds } from './delivery-bounds.store';
import { DeliveryNotFound } from './delivery.errors';
import { WebhookDisabledNow } from '../webhook/webhook.errors';
import { TEST_TYPE } from '../webhook/event-types';
import { MOST_ATTEMPTS, ofWorkspace } from './delivery.queries';
import type { Attempt, Outcome, Tries } from './retry-schedule';
import { TargetStore } from './target.store';
import type { Webhook } from '../webhook/webhook';
import { WebhooksOptions } from '../webhook/webhooks.options';

/** A due delivery, and the current state of its webhook. */
export interface Due {
  readonly id: string;
  readonly webhook: Webhook;
  /** Id of the message. It is the same in every attempt, so that the receiver recognises repetitions. */
  readonly messageId: string;
  readonly body: string;
  /** Earlier attempts; null before the first one. */
  readonly tries: Tries | null;
}

interface Row {
  readonly id: string;
  readonly state: string;
  readonly message_id: string;
  readonly body: string;
  readonly tries: number;
  readonly started_at: Date | null;
}

/** The table of deliveries. */
@Injectable()
export class WebhookDeliveryStore {
  constructor(
    private readonly pool: Pool,
    private readonly targets: TargetStore,
    private readonly bounds: DeliveryBounds,
    private readonly options: WebhooksOptions,
  ) {}

  /** Returns the ids of a webhook's due deliveries, the longest due first. */
  async due({ id, tenant }: Pick<WorkItem, 'id' | 'tenant'>, most: number): Promise<string[]> {
    const { rows } = await this.pool.query<{ id: string }>({
      name: 'due webhook deliveries',
      text: `select id from webhook_deliveries
        where webhook_id = $1 and ${ofWorkspace('$4')} and status = 'pending' and due_at <= $2
        order by due_at, id limit $3`,
      values: [id, this.now(), most, tenant],
    });
    return rows.map(({ id }) => id);
  }

  /** Returns a delivery; undefined when it is no longer to be sent: given up, or its webhook disabled or removed. */
  async find(tenant: string | null, id: string): Promise<Due | undefined> {
    const { rows } = await this.pool.query<Row>({
      name: 'due webhook delivery',
      text: `select d.id, state, message_id, body, tries, started_at
        from webhook_deliveries d join webhooks w on w.id = webhook_id
        where d.id = $1 and ${ofWorkspace('$2', 'd.')} and w.tenant_id = $2 and status = 'pending' and enabled`,
      values: [id, tenant],
    });
    const row = rows[0];
    if (!row) return undefined;
    const { state, message_id: messageId, body, tries: count, started_at } = row;
    const tries = started_at && { count, startedAt: started_at.getTime() };
    return { id, webhook: JSON.parse(state) as Webhook, messageId, body, tries };
  }

  /** Records an attempt and the new status of the delivery. A success counts even after the delivery was given up. */
  async record({ id, webhook }: Due, attempt: Attempt, tries: Tries, outcome: Outcome): Promise<void> {
    const ended = new Date(attempt.at + attempt.latency);
    await this.pool.query({
      name: 'record webhook attempt',
      text: `with delivery as (
          update webhook_deliveries set attempts = attempts + 1, last_status = $2, tries = $3, started_at = $4,
            due_at = coalesce($5, due_at), finished_at = case when $6 = 'pending' then finished_at else $7 end,
            status = case when status = 'pending' or $6 = 'delivered' then $6 else status end
          where id = $1 and ${ofWorkspace('$12')} returning attempts),
        former as (
          delete from webhook_attempts using delivery where delivery_id = $1 and number <= delivery.attempts - ${MOST_ATTEMPTS})
        insert into webhook_attempts (delivery_id, number, at, latency_ms, status, response, error)
        select $1, attempts, $8::timestamptz, $9::int, $2, $10::text, $11::text from delivery`,
      values: [
        id,
        attempt.status,
        tries.count,
        new Date(tries.startedAt),
        outcome.status === 'pending' ? new Date(outcome.dueAt) : null,
        outcome.status,
        ended,
        new Date(attempt.at),
        Math.round(attempt.latency),
        attempt.response,
        attempt.error,
        webhook.tenant_id,
      ],
    });
  }

  /** Adds a test message, unless there is one of this id, and returns the id. @throws WebhookDisabledNow */
  async addTest(webhookId: string, id = uuid()): Promise<string> {
    const now = this.now();
    const body = JSON.stringify({ type: TEST_TYPE, timestamp: now.toISOString(), data: { webhook_id: webhookId } });
    await transaction(this.pool, async (tx) => {
      const tenant = await tenantOfEnabled(webhookId, tx);
      await tx.query(
        `insert into webhook_deliveries (id, webhook_id, message_id, event_type, body, created_at, due_at, tenant_id)
         values ($1, $2, $3, $4, $5, $6, $6, $7) on conflict do nothing`,
        [id, webhookId, uuid(), TEST_TYPE, body, now, tenant],
      );
      await this.bounds.keep([{ webhook_id: webhookId, tenant_id: tenant }], tx);
      await this.targets.noteAsked(webhookId, tx);
    });
    this.targets.wake();
    return id;
  }

  /**
   * Makes a delivery due again with all its attempts, whatever its status. @throws DeliveryNotFound, WebhookDisabledNow
   */
  async redeliver(webhookId: string, id: string): Promise<void> {
    await transaction(this.pool, async (tx) => {
      const tenant = await tenantOfEnabled(webhookId, tx);
      const { rowCount } = await tx.query(
        `update webhook_deliveries set status = 'pending', due_at = $3, tries = 0, started_at = null, finished_at = null
         where id = $2 and webhook_id = $1 and ${ofWorkspace('$4')}`,
        [webhookId, id, this.now(), tenant],
      );
      if (rowCount === 0) throw new DeliveryNotFound(id);
      await this.targets.noteAsked(webhookId, tx);
    });
    this.targets.wake();
  }

  private now(): Date {
    return new Date(this.options.now());
  }
}

/**
 * Returns the workspace of a webhook that is enabled, and locks it: disabling gives up all waiting deliveries, and must
 * wait until the new one is among them. @throws WebhookDisabledNow
 */
async function tenantOfEnabled(webhookId: string, tx: PoolClient): Promise<string> {
  const text = 'select tenant_id from webhooks where id = $1 and enabled for share';
  const { rows } = await tx.query<{ tenant_id: string }>(text, [webhookId]);
  if (!rows[0]) throw new WebhookDisabledNow();
  return rows[0].tenant_id;
}
