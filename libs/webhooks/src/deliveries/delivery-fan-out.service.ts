import type { Recorded } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { v7 as uuid } from 'uuid';
import { DeliveryBounds } from './delivery-bounds.store';
import { ofWorkspace } from './delivery.queries';
import { subscribes } from '../webhook/event-types';
import { publicEvent } from '../webhook/public-event';
import type { Webhook } from '../webhook/webhook';
import { WebhooksOptions } from '../webhook/webhooks.options';

interface Subscriber {
  readonly id: string;
  readonly tenant_id: string;
  readonly since: string;
  readonly event_types: readonly string[];
}

/** Makes deliveries from events: one for each webhook of the tenant that subscribes to the event. */
@Injectable()
export class DeliveryFanOut {
  constructor(
    private readonly bounds: DeliveryBounds,
    private readonly options: WebhooksOptions,
  ) {}

  /**
   * Returns the ids of the webhooks with new deliveries. An event that is handled again makes none, and neither does
   * one whose delivery may have been deleted already.
   */
  async deliver(events: readonly Recorded[], tx: PoolClient): Promise<string[]> {
    const oldest = this.options.now() - this.options.retention;
    const recent = events.filter(({ time }) => Date.parse(time) > oldest);
    const tenants = new Set(recent.flatMap(({ metadata }) => metadata.tenant ?? []));
    if (tenants.size === 0) return [];
    const { rows: subscribers } = await tx.query<Subscriber>(
      'select id, tenant_id, since, event_types from webhooks where enabled and tenant_id = any($1)',
      [[...tenants]],
    );
    const deliveries = subscribers.length === 0 ? [] : recent.flatMap((event) => deliveriesOf(event, subscribers));
    if (deliveries.length === 0) return [];
    const column = (name: keyof (typeof deliveries)[number]) => deliveries.map((delivery) => delivery[name]);
    const { rows } = await tx.query<{ webhook_id: string; tenant_id: string }>(
      `insert into webhook_deliveries (id, webhook_id, message_id, event_type, body, created_at, tenant_id, due_at)
       select *, $8::timestamptz
       from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::timestamptz[], $7::uuid[])
       on conflict do nothing returning webhook_id, tenant_id`,
      [
        column('id'),
        column('webhook'),
        column('message'),
        column('type'),
        column('body'),
        column('time'),
        column('tenant'),
        new Date(this.options.now()),
      ],
    );
    await this.bounds.keep(rows, tx);
    return rows.map(({ webhook_id }) => webhook_id);
  }

  /** Gives up the waiting deliveries of a disabled webhook. */
  async giveUp({ id, tenant_id }: Pick<Webhook, 'id' | 'tenant_id'>, time: string, tx: PoolClient): Promise<void> {
    await tx.query(
      `update webhook_deliveries set status = 'failed', finished_at = $2
       where webhook_id = $1 and ${ofWorkspace('$3')} and status = 'pending'`,
      [id, time, tenant_id],
    );
  }
}

function deliveriesOf(event: Recorded, subscribers: readonly Subscriber[]) {
  const { metadata, position, time } = event;
  const told = publicEvent(event);
  if (!told) return [];
  const body = JSON.stringify(told);
  return subscribers
    .filter(({ tenant_id, since }) => tenant_id === metadata.tenant && BigInt(since) < position)
    .filter(({ event_types }) => subscribes(event_types, told.type))
    .map(({ id: webhook, tenant_id: tenant }) => {
      return { id: uuid(), webhook, message: event.id, type: told.type, body, time, tenant };
    });
}
