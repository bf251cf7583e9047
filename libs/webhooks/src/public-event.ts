import type {
  DatasetCreatedMessage,
  DeploymentCreatedMessage,
  DeploymentDeletedMessage,
  DeploymentPatchedMessage,
  DeploymentStatusReportedMessage,
  ExperimentUploadedMessage,
  FeedbackAddedMessage,
  IntegrationAddedMessage,
  OAuthProviderAddedMessage,
  RevisionActivatedMessage,
  RevisionCreatedMessage,
  RevisionSourceMessage,
  RevisionStatusChangedMessage,
  RunsPersistedMessage,
  SessionCreatedMessage,
  SourceConfigMessage,
} from '@fairlead/contracts';
import { idOf, type Recorded } from '@fairlead/eventing';
import type { EventType } from './event-types';

/** An event as the world outside is told it: ids and plain facts, nothing secret, nothing opaque. */
export interface PublicEvent {
  readonly type: string;
  /** When it happened: ISO 8601 in UTC. */
  readonly timestamp: string;
  readonly data: object;
}

type Told = readonly [EventType, object];

/** By the type of the log's event: each takes its message, and the id of the deployment, dataset, session … it is about. */
const TELLERS: Readonly<Record<string, (message: never, id: string) => Told>> = {
  DeploymentCreated: ({ name, source, ...message }: DeploymentCreatedMessage, deployment_id) => [
    'deployment.created',
    {
      deployment_id,
      name,
      source,
      source_config: publicConfig(message.source_config),
      source_revision_config: publicRevision(message.source_revision_config),
    },
  ],
  DeploymentPatched: (message: DeploymentPatchedMessage, deployment_id) => {
    const { source_config, source_revision_config } = message;
    return [
      'deployment.patched',
      {
        deployment_id,
        changed: changedMembers(message),
        ...(source_config && { source_config: publicConfig(source_config) }),
        ...(source_revision_config && { source_revision_config: publicRevision(source_revision_config) }),
      },
    ];
  },
  DeploymentProvisioned: (_: unknown, deployment_id) => deploymentStatus(deployment_id, 'READY'),
  DeploymentStatusReported: ({ status, reason }: DeploymentStatusReportedMessage, deployment_id) =>
    deploymentStatus(deployment_id, status, reason),
  DeploymentDeletionRequested: (_: unknown, deployment_id) => deploymentStatus(deployment_id, 'AWAITING_DELETE'),
  DeploymentDeleted: ({ name }: DeploymentDeletedMessage, deployment_id) => [
    'deployment.deleted',
    { deployment_id, name },
  ],
  RevisionCreated: ({ revision_id, source, ...message }: RevisionCreatedMessage, deployment_id) => [
    'revision.created',
    {
      revision_id,
      deployment_id,
      source,
      source_revision_config: publicRevision(message.source_revision_config),
      redeployed_from: message.redeployed_from ?? null,
    },
  ],
  RevisionStatusChanged: (message: RevisionStatusChangedMessage, deployment_id) => {
    const { revision_id, previous_status, status } = message;
    return ['revision.status_changed', { revision_id, deployment_id, previous_status, status }];
  },
  RevisionActivated: ({ revision_id, previous_revision_id }: RevisionActivatedMessage, deployment_id) => [
    'revision.activated',
    { revision_id, deployment_id, previous_revision_id },
  ],
  DatasetCreated: ({ name, description, data_type }: DatasetCreatedMessage, dataset_id) => [
    'dataset.created',
    { dataset_id, name, description, data_type },
  ],
  DatasetDeleted: (_: unknown, dataset_id) => ['dataset.deleted', { dataset_id }],
  ExperimentUploaded: ({ dataset, ...message }: ExperimentUploadedMessage, session_id) => {
    const { name, start_time, end_time, row_count, test_run_number } = message;
    const { id: dataset_id, name: dataset_name } = dataset;
    const facts = { session_id, name, dataset_id, dataset_name, test_run_number, row_count, start_time, end_time };
    return ['experiment.uploaded', facts];
  },
  RunsPersisted: (message: RunsPersistedMessage, session_id) => {
    const { run_count, error_rate, latency_p50, latency_p99, example_count } = message;
    const facts = { session_id, run_count, error_rate, latency_p50, latency_p99, example_count };
    return ['experiment.runs_persisted', facts];
  },
  SessionCreated: ({ name, reference_dataset_id, deployment_id }: SessionCreatedMessage, session_id) => [
    'session.created',
    { session_id, name, reference_dataset_id, deployment_id: deployment_id ?? null },
  ],
  SessionDeleted: (_: unknown, session_id) => ['session.deleted', { session_id }],
  FeedbackAdded: ({ id: feedback_id, run_id, key, score, created_at }: FeedbackAddedMessage, session_id) => [
    'feedback.added',
    { feedback_id, session_id, run_id, key, score, created_at },
  ],
  IntegrationAdded: ({ name, provider, base_url }: IntegrationAddedMessage, integration_id) => [
    'integration.added',
    { integration_id, name, provider, base_url },
  ],
  IntegrationChanged: (message: object, integration_id) => [
    'integration.changed',
    { integration_id, changed: Object.keys(message) },
  ],
  IntegrationRemoved: (_: unknown, integration_id) => ['integration.removed', { integration_id }],
  OAuthProviderAdded: ({ provider_id, name }: OAuthProviderAddedMessage, id) => [
    'oauth_provider.added',
    { id, provider_id, name },
  ],
  OAuthProviderChanged: (message: object, id) => ['oauth_provider.changed', { id, changed: Object.keys(message) }],
  OAuthProviderRemoved: (_: unknown, id) => ['oauth_provider.removed', { id }],
};

/** Types of the log's events that are published. */
export const PUBLISHED = Object.keys(TELLERS);

/** What an event of the log tells the world outside; undefined when that is nothing. */
export function publicEvent({ type, data, stream, time }: Recorded): PublicEvent | undefined {
  const told = Object.hasOwn(TELLERS, type) ? TELLERS[type]?.(data as never, idOf(stream)) : undefined;
  return told && { type: told[0], timestamp: time, data: told[1] };
}

function deploymentStatus(deployment_id: string, status: string, reason?: string): Told {
  return ['deployment.status_changed', { deployment_id, status, ...(reason !== undefined && { reason }) }];
}

/** Names only: among the values are secrets, commands and specifications that may hold some. */
function changedMembers({ source_config, ...others }: DeploymentPatchedMessage): string[] {
  return [...Object.keys(source_config ?? {}).map((name) => `source_config.${name}`), ...Object.keys(others)];
}

function publicConfig(config: SourceConfigMessage) {
  const { integration_id, repo_url, deployment_type, build_on_push, custom_url, listener_id } = config;
  return { integration_id, repo_url, deployment_type, build_on_push, custom_url, listener_id };
}

function publicRevision(config: RevisionSourceMessage) {
  const { repo_ref, repo_commit_sha, graph_config_path, image_uri, source_tarball_path } = config;
  return { repo_ref, repo_commit_sha, graph_config_path, image_uri, source_tarball_path };
}
