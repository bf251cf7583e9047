import type { WebhookType } from '@fairlead/contracts';

/** Types of events for webhooks, with a description. Types may be added, never changed or removed. */
export const EVENT_TYPES = {
  'deployment.created': 'A deployment has been created.',
  'deployment.patched': 'Members of a deployment have changed.',
  'deployment.status_changed': 'A deployment can be used, is not used, cannot be reached, or is being deleted.',
  'deployment.deleted': 'A deployment is gone and its name free again.',
  'deployment.command_started': 'A command begins to run beside the program of a deployment.',
  'deployment.command_ended': 'A command beside the program of a deployment has ended.',
  'revision.created': 'A revision waits to be rolled out.',
  'revision.status_changed': 'A revision has another status.',
  'revision.activated': 'A revision is the one that runs.',
  'revision.held': 'A revision is ready to be deployed and waits for evidence.',
  'revision.released': 'A revision with gates may be deployed.',
  'dataset.created': 'A dataset has been created.',
  'dataset.deleted': 'A dataset and its experiments have been deleted.',
  'experiment.uploaded': 'An experiment has been accepted.',
  'experiment.runs_persisted': 'The runs of an uploaded experiment can be read.',
  'session.created': 'A session that is not an upload has been created: a tracing project, or a live experiment.',
  'session.deleted': 'A session has been deleted, uploaded experiments included.',
  'feedback.added': 'Feedback has been given on a run or a session.',
  'monitor.alerted': 'What a monitor looks at is beyond its threshold.',
  'monitor.recovered': 'What alerted is within its limits again.',
  'monitor.state_changed': 'A monitor has too little evidence, its looks fail, or neither any more.',
  'monitor.deleted': 'A monitor is gone.',
  'integration.added': 'An integration with a code host has been added.',
  'integration.changed': 'Members of an integration have changed.',
  'integration.removed': 'An integration has been removed.',
  'oauth_provider.added': 'An OAuth provider has been added.',
  'oauth_provider.changed': 'Members of an OAuth provider have changed.',
  'oauth_provider.removed': 'An OAuth provider has been removed.',
} as const satisfies Readonly<Record<WebhookType, string>>;

/** Type of test messages, which are sent on request only. */
export const TEST_TYPE = 'webhook.test';

const TYPES = Object.keys(EVENT_TYPES);

/** All subscriptions: types, prefixes of types, and all types. */
export const SUBSCRIPTIONS = [...TYPES, ...new Set(TYPES.map((type) => type.replace(/[^.]+$/, '*'))), '*'];

/** Returns whether a text is a subscription: a type, a prefix such as `deployment.*`, or `*`. */
export function isSubscription(text: string): boolean {
  return SUBSCRIPTIONS.includes(text);
}

/** Returns whether one of the subscriptions includes a type. */
export function subscribes(subscriptions: readonly string[], type: string): boolean {
  return subscriptions.some((text) => covers(text, type));
}

function covers(text: string, type: string): boolean {
  if (text === '*' || text === type) return true;
  return text.endsWith('.*') && type.startsWith(text.slice(0, -1));
}
