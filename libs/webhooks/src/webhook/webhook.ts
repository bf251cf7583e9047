import {
  type Aggregate,
  changedMembers,
  type DomainEvent,
  type Model,
  type Recorded,
  type Sealed,
} from '@fairlead/eventing';
import { WebhookNotFound } from './webhook.errors';

/** Forms of messages: that of Standard Webhooks, and that of Slack's incoming webhooks. */
export const WEBHOOK_FORMATS = ['standard', 'slack'] as const;

/** The settings of a webhook. */
interface WebhookFacts {
  /** The form of messages; `standard` where it is absent. */
  readonly format?: (typeof WEBHOOK_FORMATS)[number];
  readonly url: string;
  /** Published types and prefixes of them such as `deployment.*`. */
  readonly event_types: readonly string[];
  readonly description: string;
}

/** Why a webhook is disabled: the owner did it, the target answered 410, or it has failed for days. */
type DisabledReason = 'requested' | 'gone' | 'failing';

export type WebhookAdded = DomainEvent<
  'WebhookAdded',
  WebhookFacts & {
    readonly webhook_id: string;
    readonly tenant_id: string;
    readonly enabled: boolean;
    readonly secret: Sealed;
  }
>;
/** The changed members, each as it is after the change. */
type WebhookChanged = DomainEvent<
  'WebhookChanged',
  Partial<WebhookFacts> & {
    readonly enabled?: boolean;
  }
>;
type WebhookSecretRotated = DomainEvent<'WebhookSecretRotated', { readonly secret: Sealed }>;
/** Disabled by the service itself. */
type WebhookDisabled = DomainEvent<'WebhookDisabled', { readonly reason: 'gone' | 'failing' }>;
type WebhookRemoved = DomainEvent<'WebhookRemoved', { readonly webhook_id: string }>;

/** All events of a stream `webhook-<id>`. */
export type WebhookEvent = WebhookAdded | WebhookChanged | WebhookSecretRotated | WebhookDisabled | WebhookRemoved;

/** The state of a webhook. */
export interface Webhook extends WebhookFacts {
  readonly id: string;
  readonly tenant_id: string;
  readonly secret: Sealed;
  /** Former secrets, oldest first, each with the time until which deliveries are also signed with it. */
  readonly previous: readonly { readonly secret: Sealed; readonly until: string }[];
  /** null while it is enabled. */
  readonly disabled: { readonly reason: DisabledReason; readonly at: string } | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly removed: boolean;
}

/** null until the webhook has been added. */
type WebhookState = Webhook | null;

export const webhookModel: Model<WebhookState, WebhookEvent> = { initial: null, evolve };

export const webhookAggregate: Aggregate<Webhook, WebhookEvent> = {
  category: 'webhook',
  model: webhookModel,
  notFound: (id) => new WebhookNotFound(id),
};

const OVERLAP = 24 * 3_600_000;
const MOST_PREVIOUS = 3;

function evolve(state: WebhookState, event: Recorded<WebhookEvent>): WebhookState {
  const { time } = event;
  if (event.type === 'WebhookAdded') {
    const { webhook_id: id, enabled, ...members } = event.data;
    const disabled = enabled ? null : { reason: 'requested' as const, at: time };
    return { id, ...members, previous: [], disabled, created_at: time, updated_at: time, removed: false };
  }
  return state && { ...state, ...change(state, event), updated_at: time };
}

function change(state: Webhook, event: Recorded<Exclude<WebhookEvent, WebhookAdded>>): Partial<Webhook> {
  switch (event.type) {
    case 'WebhookChanged': {
      const { enabled, ...members } = event.data;
      if (enabled === undefined) return members;
      return { ...members, disabled: enabled ? null : { reason: 'requested', at: event.time } };
    }
    case 'WebhookSecretRotated': {
      const until = new Date(Date.parse(event.time) + OVERLAP).toISOString();
      const previous = [...state.previous, { secret: state.secret, until }].slice(-MOST_PREVIOUS);
      return { secret: event.data.secret, previous };
    }
    case 'WebhookDisabled':
      return { disabled: { reason: event.data.reason, at: event.time } };
    case 'WebhookRemoved':
      return { removed: true };
  }
}

/** Adds a webhook under an id made by the caller. */
export function add(wanted: WebhookAdded['data']): (state: WebhookState) => WebhookEvent[] {
  return (state) => (state ? [] : [{ type: 'WebhookAdded', data: wanted }]);
}

/** Changes the members that are sent and differ. Enabling removes the reason for which it was disabled. */
export function patch(wanted: WebhookChanged['data']): (state: Webhook) => WebhookEvent[] {
  return (state) => {
    const { format = 'standard' } = state;
    const data = changedMembers({ ...state, format, enabled: state.disabled === null }, wanted);
    return data ? [{ type: 'WebhookChanged', data }] : [];
  };
}

/** Replaces the secret. For a day, deliveries are signed with the former one too. */
export function rotateSecret(secret: Sealed): () => WebhookEvent[] {
  return () => [{ type: 'WebhookSecretRotated', data: { secret } }];
}

/** Removes the webhook: its secrets can never be read again. */
export function remove(state: Webhook): WebhookEvent[] {
  return [{ type: 'WebhookRemoved', data: { webhook_id: state.id } }];
}

/** Disables a webhook whose target is gone or keeps failing, unless its address was changed meanwhile. */
export function disable(reason: 'gone' | 'failing', url: string): (state: WebhookState) => WebhookEvent[] {
  return (state) => {
    if (!state || state.removed || state.disabled || state.url !== url) return [];
    return [{ type: 'WebhookDisabled', data: { reason } }];
  };
}

/** Returns the secrets for signing at a time, the current one first. */
export function secretsAt({ secret, previous }: Webhook, now: number): Sealed[] {
  const former = previous.filter(({ until }) => Date.parse(until) > now).map((one) => one.secret);
  return [secret, ...former.reverse()];
}

/** True when failures before an event no longer count: the webhook has another target, or has been enabled. */
export function renews(event: WebhookEvent): boolean {
  return event.type === 'WebhookChanged' && (event.data.url !== undefined || event.data.enabled === true);
}
