import { paging } from '@fairlead/api';
import { bool, int, list, literal, object, optional, refine, str, uuid } from '@fairlead/schema';
import { isSubscription, SUBSCRIPTIONS } from './event-types';

const text = refine(str({ max: 100 }), (text) =>
  isSubscription(text) ? undefined : 'no event type that is published, nor a prefix of some such as deployment.*',
);
const subscription = { ...text, json: { type: 'string', enum: SUBSCRIPTIONS } };
const eventTypes = list(subscription, { min: 1, max: 100 });
const description = str({ max: 500 });

/** Body of POST /v1/webhooks. */
export const addRequest = object(
  {
    url: str(),
    event_types: eventTypes,
    description: optional(description, ''),
    enabled: optional(bool(), true),
  },
  'WebhookCreateRequest',
);

/** Body of PATCH. */
export const patchRequest = object(
  {
    url: optional(str()),
    event_types: optional(eventTypes),
    description: optional(description),
    enabled: optional(bool()),
  },
  'WebhookPatchRequest',
);

export const webhookPath = object({ webhook_id: uuid() });
export const deliveryPath = object({ webhook_id: uuid(), delivery_id: uuid() });
export const webhooksQuery = object(paging);
export const deliveriesQuery = object({
  limit: optional(int({ ge: 1, le: 100 }), 20),
  cursor: optional(uuid()),
  status: optional(literal(['pending', 'delivered', 'failed', 'set_aside'])),
  event_type: optional(str({ max: 100 })),
});
