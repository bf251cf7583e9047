import { shape } from '@fairlead/api';

const { boolean, free, integer, list, noted, nullable, object, oneOf, page, text, time, uuid } = shape;

const members = {
  id: uuid,
  url: text,
  event_types: list(text),
  description: text,
  enabled: boolean,
  disabled_reason: nullable(text),
  disabled_at: nullable(time),
  failing_since: noted(nullable(time), 'Since when no delivery has succeeded.'),
  paused_until: noted(nullable(time), 'Until then the target is not called, because its latest attempts have failed.'),
  previous_secret_until: noted(nullable(time), 'Until then deliveries are signed with the previous secret, too.'),
  created_at: time,
  updated_at: time,
};

export const webhook = object('Webhook', members);
export const webhookWithSecret = object('WebhookWithSecret', {
  ...members,
  secret: noted(text, 'Told by this answer only.'),
});
export const webhooksPage = page('WebhooksPage', webhook);

const deliveryMembers = {
  id: uuid,
  message_id: noted(text, 'The header `webhook-id`.'),
  event_type: text,
  status: noted(
    oneOf('pending', 'delivered', 'failed', 'set_aside'),
    '`set_aside`: not sent, because too many newer ones wait; it can be sent again on request.',
  ),
  attempt_count: integer,
  last_status: noted(nullable(integer), 'HTTP status of the newest attempt that was answered.'),
  created_at: time,
  next_attempt_at: nullable(time),
  finished_at: nullable(time),
};

export const deliveriesPage = object('DeliveriesPage', {
  resources: list(object('DeliverySummary', deliveryMembers)),
  next_cursor: nullable(uuid),
});
export const delivery = object('Delivery', {
  ...deliveryMembers,
  payload: noted(free, 'What is sent.'),
  attempts: list(
    object('DeliveryAttempt', {
      number: integer,
      at: time,
      latency_ms: integer,
      status: nullable(integer),
      response: noted(nullable(text), 'The first 1 KB of the answer.'),
      error: nullable(text),
    }),
  ),
});
