import { Followers, type Projection, type Recorded } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { Pool, type PoolClient } from 'pg';
import { DeliveryFanOut } from './deliveries/delivery-fan-out.service';
import { PUBLISHED } from './webhook/public-event';
import { type Health, healthOf, type HealthRow, TargetStore } from './deliveries/target.store';
import { renews, type Webhook, type WebhookEvent } from './webhook/webhook';
import { applyToRow, WEBHOOK_EVENTS, WEBHOOKS_VIEW } from './webhook/webhook.projection';

const OWN = new Set<string>(WEBHOOK_EVENTS);

/** A webhook and how its target does. */
interface Listed extends Health {
  readonly webhook: Webhook;
}

/**
 * Keeps the table `webhooks` and makes the deliveries of published events: one follower for both, so that a webhook
 * gets exactly the events that come after its own in the log.
 */
@Injectable()
export class WebhooksView implements Projection {
  readonly name = WEBHOOKS_VIEW;
  readonly types = [...WEBHOOK_EVENTS, ...PUBLISHED];
  /** Writes of other domains must not pay for each of their events here. */
  readonly gatherMs = 100;

  constructor(
    private readonly pool: Pool,
    private readonly followers: Followers,
    private readonly fanOut: DeliveryFanOut,
    private readonly targets: TargetStore,
  ) {}

  readonly handle = async (events: Recorded[], tx: PoolClient): Promise<void> => {
    const noted = new Set<string>();
    let published: Recorded[] = [];
    const deliver = async () => {
      for (const id of await this.fanOut.deliver(published, tx)) noted.add(id);
      published = [];
    };
    for (const event of events) {
      if (!OWN.has(event.type)) {
        published.push(event);
        continue;
      }
      await deliver();
      await this.apply(event as Recorded<WebhookEvent>, tx);
    }
    await deliver();
    if (noted.size === 0) return;
    await this.targets.note([...noted], tx);
    // What has been noted can be seen once this batch is committed.
    void this.followers.passed(events.at(-1)!.position, [this.name]).then(() => this.targets.wake());
  };

  /** A page of a tenant's webhooks, newest first. */
  async list(
    tenantId: string,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<{ items: Listed[]; more: boolean }> {
    const { rows } = await this.pool.query<Row>(
      `select state, failing_since, rests_until from webhooks left join webhook_targets on webhook_id = id
       where webhooks.tenant_id = $1 order by created_at desc, id desc limit $2 offset $3`,
      [tenantId, limit + 1, offset],
    );
    const items = rows.slice(0, limit).map((row) => ({ webhook: JSON.parse(row.state) as Webhook, ...healthOf(row) }));
    return { items, more: rows.length > limit };
  }

  private async apply(event: Recorded<WebhookEvent>, tx: PoolClient): Promise<void> {
    const state = await applyToRow(event, tx);
    if (!state) return;
    if (state.removed) return this.targets.remove(state.id, tx);
    if (state.disabled) await this.fanOut.giveUp(state, event.time, tx);
    await this.targets.keep(state, renews(event), tx);
  }
}

interface Row extends HealthRow {
  readonly state: string;
}
