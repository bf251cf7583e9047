import { idOf, type Recorded, requireOwn } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import { type Webhook, type WebhookEvent, webhookModel } from './webhook';

/** Name of the follower that keeps the table of webhooks and makes deliveries. */
export const WEBHOOKS_VIEW = 'webhooks.view';

export const WEBHOOK_EVENTS: readonly WebhookEvent['type'][] = [
  'WebhookAdded',
  'WebhookChanged',
  'WebhookSecretRotated',
  'WebhookDisabled',
  'WebhookRemoved',
];

/**
 * Writes an event into the table `webhooks`. Returns the webhook after it; undefined when the row contains the event
 * already.
 */
export async function applyToRow(event: Recorded<WebhookEvent>, tx: PoolClient): Promise<Webhook | undefined> {
  const id = idOf(event.stream);
  const { rows } = await tx.query<{ state: string; version: number }>(
    'select state, version from webhooks where id = $1',
    [id],
  );
  const before = rows[0];
  if (before && before.version >= event.version) return undefined;
  if (event.type === 'WebhookAdded') {
    requireOwn(event, { id: event.data.webhook_id, tenant_id: event.data.tenant_id });
  }
  const state = webhookModel.evolve(before ? (JSON.parse(before.state) as Webhook) : null, event);
  if (!state) return undefined;
  if (state.removed) {
    await tx.query('delete from webhooks where id = $1', [id]);
    return state;
  }
  await tx.query(
    `insert into webhooks (id, tenant_id, version, since, created_at, enabled, event_types, state)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (id) do update set version = excluded.version, enabled = excluded.enabled,
       event_types = excluded.event_types, state = excluded.state`,
    [
      id,
      state.tenant_id,
      event.version,
      event.position.toString(),
      state.created_at,
      state.disabled === null,
      state.event_types,
      JSON.stringify(state),
    ],
  );
  return state;
}
