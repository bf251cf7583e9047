import { shape } from '@fairlead/api';

const { boolean, free, integer, list, noted, nullable, object, oneOf, page, text, time, uuid } = shape;

const members = {
  id: noted(uuid, 'Identifier of the webhook.'),
  url: noted(text, 'Address that deliveries are sent to with POST.'),
  event_types: noted(
    list(text),
    'Types of events that are sent: whole names, prefixes such as `deployment.*`, or `*`.',
  ),
  description: noted(text, 'What the webhook is for, as its maker wrote it.'),
  enabled: noted(boolean, 'Whether events are sent.'),
  disabled_reason: noted(
    nullable(text),
    '`requested`: a client disabled it. `gone`: the target answered 410. `failing`: nothing succeeded for five days. Null while it is enabled.',
  ),
  disabled_at: noted(nullable(time), 'When it was disabled; null while it is enabled.'),
  failing_since: noted(nullable(time), 'Since when no delivery has succeeded; null while deliveries succeed.'),
  paused_until: noted(
    nullable(time),
    'Until then the target is not called, because its latest attempts have failed; null without a pause.',
  ),
  previous_secret_until: noted(
    nullable(time),
    'Until then deliveries are signed with the previous secret, too; null when only one secret is valid.',
  ),
  created_at: noted(time, 'When the webhook was added.'),
  updated_at: noted(time, 'When the webhook last changed.'),
};

export const webhook = object('Webhook', members);
export const webhookWithSecret = object('WebhookWithSecret', {
  ...members,
  secret: noted(text, 'Secret that deliveries are signed with, `whsec_…`; no later answer shows it.'),
});
export const webhooksPage = page('WebhooksPage', webhook);

const deliveryMembers = {
  id: noted(uuid, 'Identifier of the delivery.'),
  message_id: noted(text, 'Header `webhook-id`: the same in every attempt at the same event.'),
  event_type: noted(text, 'Type of the event, such as `deployment.created`.'),
  status: noted(
    oneOf('pending', 'delivered', 'failed', 'set_aside'),
    '`pending`: it waits for an attempt. `failed`: all attempts failed. `set_aside`: not sent, because too many newer ones wait; `redeliver` sends it.',
  ),
  attempt_count: noted(integer, 'Number of attempts so far.'),
  last_status: noted(nullable(integer), 'HTTP status of the newest attempt that was answered; null when none was.'),
  created_at: noted(time, 'When the delivery was made.'),
  next_attempt_at: noted(nullable(time), 'When the next attempt is due; null when there will be none.'),
  finished_at: noted(nullable(time), 'When it was delivered or given up; null while it is pending.'),
};

export const deliveriesPage = object('DeliveriesPage', {
  resources: noted(list(object('DeliverySummary', deliveryMembers)), 'Deliveries of this page, the newest first.'),
  next_cursor: noted(nullable(uuid), 'Value for `cursor` to get the next page; null on the last one.'),
});
export const delivery = object('Delivery', {
  ...deliveryMembers,
  payload: noted(free, 'Body that is sent: `type`, `timestamp` and `data`.'),
  attempts: noted(
    list(
      object('DeliveryAttempt', {
        number: noted(integer, 'Which attempt it was, from 1.'),
        at: noted(time, 'When the attempt began.'),
        latency_ms: noted(integer, 'Time until the answer or the failure, in milliseconds.'),
        status: noted(nullable(integer), 'HTTP status of the response; null when there was none.'),
        response: noted(nullable(text), 'First kilobyte of the response body; null when there was none.'),
        error: noted(nullable(text), 'Why the attempt failed; null when it succeeded.'),
      }),
    ),
    'The newest attempts, at most 100.',
  ),
});
export type DeliveryStatus = shape.Shaped<typeof delivery>['status'];
