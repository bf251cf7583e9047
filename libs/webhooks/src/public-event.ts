import { factsOf } from '@fairlead/contracts';
import type { Recorded } from '@fairlead/eventing';
import type { EventType } from './event-types';

/** An event as the world outside is told it: ids and plain facts, nothing secret, nothing opaque. */
export interface PublicEvent {
  readonly type: string;
  /** When it happened: ISO 8601 in UTC. */
  readonly timestamp: string;
  readonly data: object;
}

/** What the types of the log's events are called. */
const TYPES: Readonly<Record<string, EventType>> = {
  DeploymentCreated: 'deployment.created',
  DeploymentPatched: 'deployment.patched',
  DeploymentProvisioned: 'deployment.status_changed',
  DeploymentStatusReported: 'deployment.status_changed',
  DeploymentDeletionRequested: 'deployment.status_changed',
  DeploymentDeleted: 'deployment.deleted',
  RevisionCreated: 'revision.created',
  RevisionStatusChanged: 'revision.status_changed',
  RevisionActivated: 'revision.activated',
  DatasetCreated: 'dataset.created',
  DatasetDeleted: 'dataset.deleted',
  ExperimentUploaded: 'experiment.uploaded',
  RunsPersisted: 'experiment.runs_persisted',
  SessionCreated: 'session.created',
  SessionDeleted: 'session.deleted',
  FeedbackAdded: 'feedback.added',
  IntegrationAdded: 'integration.added',
  IntegrationChanged: 'integration.changed',
  IntegrationRemoved: 'integration.removed',
  OAuthProviderAdded: 'oauth_provider.added',
  OAuthProviderChanged: 'oauth_provider.changed',
  OAuthProviderRemoved: 'oauth_provider.removed',
};

/** Types of the log's events that are published. */
export const PUBLISHED = Object.keys(TYPES);

/** What an event of the log tells the world outside; undefined when that is nothing. */
export function publicEvent(event: Recorded): PublicEvent | undefined {
  const type = Object.hasOwn(TYPES, event.type) ? TYPES[event.type] : undefined;
  const data = type && factsOf(event);
  return data && { type, timestamp: event.time, data };
}
