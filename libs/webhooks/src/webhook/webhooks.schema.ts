import { paging } from '@fairlead/api';
import { bool, int, list, literal, note, object, optional, refine, str, uuid, webUrl } from '@fairlead/schema';
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

/** Body of POST /v1/webhooks. */
export const addRequest = object('WebhookCreateRequest', {
  url,
  event_types: eventTypes,
  description: optional(description, ''),
  enabled: note(optional(bool(), true), 'False: nothing is sent until it is enabled.'),
});

/** Body of PATCH. */
export const patchRequest = object('WebhookPatchRequest', {
  url: optional(url),
  event_types: optional(eventTypes),
  description: optional(description),
  enabled: note(
    optional(bool()),
    'False stops the webhook and gives up what waits. True enables it again and ends a pause.',
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
