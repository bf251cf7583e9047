import {
  anyObject,
  bool,
  type Infer,
  int,
  list,
  literal,
  note,
  nullable,
  object,
  str,
  timestamp,
  uuid,
} from '@fairlead/schema';
import { page } from '@fairlead/api';

const members = {
  id: note(uuid(), 'Identifier of the webhook.'),
  url: note(str(), 'Address that deliveries are sent to with POST.'),
  event_types: note(
    list(str()),
    'Types of events that are sent: whole names, prefixes such as `deployment.*`, or `*`.',
  ),
  description: note(str(), 'What the webhook is for, as its maker wrote it.'),
  enabled: note(bool(), 'Whether events are sent.'),
  disabled_reason: note(
    nullable(str()),
    '`requested`: a client disabled it. `gone`: the target answered 410. `failing`: nothing succeeded for five days. Null while it is enabled.',
  ),
  disabled_at: note(nullable(timestamp()), 'When it was disabled; null while it is enabled.'),
  failing_since: note(nullable(timestamp()), 'Since when no delivery has succeeded; null while deliveries succeed.'),
  paused_until: note(
    nullable(timestamp()),
    'Until then the target is not called, because its latest attempts have failed; null without a pause.',
  ),
  previous_secret_until: note(
    nullable(timestamp()),
    'Until then deliveries are signed with the previous secret, too; null when only one secret is valid.',
  ),
  created_at: note(timestamp(), 'When the webhook was added.'),
  updated_at: note(timestamp(), 'When the webhook last changed.'),
};

export const webhook = object('Webhook', members);
export const webhookWithSecret = object('WebhookWithSecret', {
  ...members,
  secret: note(str(), 'Secret that deliveries are signed with, `whsec_…`; no later answer shows it.'),
});
export const webhooksPage = page('WebhooksPage', webhook);

const deliveryMembers = {
  id: note(uuid(), 'Identifier of the delivery.'),
  message_id: note(str(), 'Header `webhook-id`: the same in every attempt at the same event.'),
  event_type: note(str(), 'Type of the event, such as `deployment.created`.'),
  status: note(
    literal(['pending', 'delivered', 'failed', 'set_aside']),
    '`pending`: it waits for an attempt. `failed`: all attempts failed. `set_aside`: not sent, because too many newer ones wait; `redeliver` sends it.',
  ),
  attempt_count: note(int(), 'Number of attempts so far.'),
  last_status: note(nullable(int()), 'HTTP status of the newest attempt that was answered; null when none was.'),
  created_at: note(timestamp(), 'When the delivery was made.'),
  next_attempt_at: note(nullable(timestamp()), 'When the next attempt is due; null when there will be none.'),
  finished_at: note(nullable(timestamp()), 'When it was delivered or given up; null while it is pending.'),
};

export const deliveriesPage = object('DeliveriesPage', {
  resources: note(list(object('DeliverySummary', deliveryMembers)), 'Deliveries of this page, the newest first.'),
  next_cursor: note(nullable(uuid()), 'Value for `cursor` to get the next page; null on the last one.'),
});
export const delivery = object('Delivery', {
  ...deliveryMembers,
  payload: note(anyObject(), 'Body that is sent: `type`, `timestamp` and `data`.'),
  attempts: note(
    list(
      object('DeliveryAttempt', {
        number: note(int(), 'Which attempt it was, from 1.'),
        at: note(timestamp(), 'When the attempt began.'),
        latency_ms: note(int(), 'Time until the answer or the failure, in milliseconds.'),
        status: note(nullable(int()), 'HTTP status of the response; null when there was none.'),
        response: note(nullable(str()), 'First kilobyte of the response body; null when there was none.'),
        error: note(nullable(str()), 'Why the attempt failed; null when it succeeded.'),
      }),
    ),
    'The newest attempts, at most 100.',
  ),
});
export type DeliveryStatus = Infer<typeof delivery>['status'];
