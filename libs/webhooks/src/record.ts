import type { Infer } from '@fairlead/schema';
import type { Health } from './deliveries/target.store';
import { maskedUrl } from './webhook/masked-url';
import type { Webhook } from './webhook/webhook';
import type { webhookWithSecret } from './webhook/webhook.schema';

/** Returns a webhook as answers show it, without its secret and with its address masked. */
export function webhookRecord(webhook: Webhook, { failingSince, pausedUntil }: Health) {
  const { id, event_types, description, format = 'standard', disabled, previous, created_at, updated_at } = webhook;
  return {
    id,
    url: maskedUrl(webhook),
    event_types,
    description,
    format,
    enabled: disabled === null,
    disabled_reason: disabled?.reason ?? null,
    disabled_at: disabled?.at ?? null,
    failing_since: failingSince,
    paused_until: pausedUntil,
    previous_secret_until: previous.at(-1)?.until ?? null,
    created_at,
    updated_at,
  };
}

export type WebhookRecord = ReturnType<typeof webhookRecord>;

/** A webhook with its secret, for the two answers that contain it. */
export type WithSecret = Infer<typeof webhookWithSecret>;
