import { page, paging } from '@fairlead/api';
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
  optional,
  refine,
  str,
  timestamp,
  uuid,
  webUrl,
} from '@fairlead/schema';
import { WEBHOOK_FORMATS } from './webhook';
import { isSubscription, SUBSCRIPTIONS } from './event-types';

const text = refine(str({ max: 100 }), (text) =>
  isSubscription(text) ? undefined : 'no event type that is published, nor a prefix of some such as deployment.*',
);
export const subscription = { ...text, json: { type: 'string', enum: SUBSCRIPTIONS } };
const eventTypes = note(
  list(subscription, { min: 1, max: 100 }),
  'Types of events to send: whole names, prefixes such as `deployment.*`, or `*` for all that exist and will exist.',
);
const description = note(str({ max: 500 }), 'What the webhook is for; without effect.');
const url = note(
  webUrl(),
  'Address to send deliveries to: https on the public internet, or allowed by `OUTBOUND_ALLOW`.',
);

const format = note(
  literal(WEBHOOK_FORMATS),
  "Form of the messages: `standard` has `type`, `timestamp` and `data`; `slack` is that of Slack's incoming webhooks.",
);

/** Body of POST /v1/webhooks. */
export const addRequest = object('WebhookCreateRequest', {
  url,
  event_types: eventTypes,
  description: optional(description, ''),
  format: optional(format, 'standard'),
  enabled: note(optional(bool(), true), 'False: nothing is sent until it is enabled.'),
});

/** Body of PATCH. */
export const patchRequest = object('WebhookPatchRequest', {
  url: optional(url),
  event_types: optional(eventTypes),
  description: optional(description),
  format: optional(format),
  enabled: note(
    optional(bool()),
    'False stops the webhook and gives up what waits. True enables it again and ends a pause.',
  ),
});

/** Query of GET of one webhook. */
export const findQuery = object({
  include_secrets: note(
    optional(bool(), false),
    'True: `url` is the whole address, for which the key needs the scope `secrets:read`, and the audit log tells that it was read.',
  ),
});

export const webhookPath = object({ webhook_id: note(uuid(), 'The `id` of a webhook of this workspace.') });
export const deliveryPath = object({
  webhook_id: note(uuid(), 'The `id` of a webhook of this workspace.'),
  delivery_id: note(uuid(), 'The `id` of a delivery of the webhook.'),
});
export const webhooksQuery = object(paging);
export const deliveriesQuery = object({
  limit: note(optional(int({ ge: 1, le: 100 }), 20), 'Largest number of deliveries in the answer.'),
  cursor: note(optional(uuid()), 'The `next_cursor` of the previous page; absent: the first page.'),
  status: note(optional(literal(['pending', 'delivered', 'failed', 'set_aside'])), 'Only deliveries in this status.'),
  event_type: note(optional(str({ max: 100 })), 'Only deliveries of events of exactly this type.'),
});

const members = {
  id: note(uuid(), 'Identifier of the webhook.'),
  url: note(
    str(),
    'Address that deliveries are sent to with POST; its path and query, which may be a credential, are masked: `https://hooks.example/********3f9ac21b`. Sent back in a PATCH it changes nothing.',
  ),
  event_types: note(
    list(str()),
    'Types of events that are sent: whole names, prefixes such as `deployment.*`, or `*`.',
  ),
  description: note(str(), 'What the webhook is for, as its maker wrote it.'),
  format,
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
  payload: note(
    anyObject(),
    'Message: `type`, `timestamp` and `data`. A webhook with the format `slack` is sent another form of it.',
  ),
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
