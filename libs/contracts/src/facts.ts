import type { DeploymentCreatedMessage, DeploymentDeletedMessage, DeploymentStatusReportedMessage } from '.';
import type { IntegrationAddedMessage, OAuthProviderAddedMessage } from './connections';
import type {
  DatasetCreatedMessage,
  ExperimentUploadedMessage,
  FeedbackAddedMessage,
  RunsPersistedMessage,
  SessionCreatedMessage,
} from './experiments';
import type {
  DeploymentPatchedMessage,
  RevisionActivatedMessage,
  RevisionCreatedMessage,
  RevisionSourceMessage,
  RevisionStatusChangedMessage,
  SourceConfigMessage,
} from './rollouts';

/** An event of the log. */
export interface LoggedEvent {
  readonly type: string;
  /** `category-id` */
  readonly stream: string;
  readonly data: unknown;
}

/** By the type of the event: each takes its message, and the id of the deployment, dataset, session … it is about. */
type Tellers = Readonly<Record<string, (message: never, id: string) => object>>;

export const deploymentFacts: Tellers = {
  DeploymentCreated: ({ name, source, ...message }: DeploymentCreatedMessage, deployment_id) => ({
    deployment_id,
    name,
    source,
    source_config: publicConfig(message.source_config),
    source_revision_config: publicRevision(message.source_revision_config),
  }),
  DeploymentPatched: (message: DeploymentPatchedMessage, deployment_id) => ({
    deployment_id,
    changed: changedMembers(message),
    ...(message.source_config && { source_config: publicConfig(message.source_config) }),
    ...(message.source_revision_config && {
      source_revision_config: publicRevision(message.source_revision_config),
    }),
  }),
  DeploymentProvisioned: (_: unknown, deployment_id) => ({ deployment_id, status: 'READY' }),
  DeploymentStatusReported: ({ status, reason }: DeploymentStatusReportedMessage, deployment_id) => ({
    deployment_id,
    status,
    ...(reason !== undefined && { reason }),
  }),
  DeploymentDeletionRequested: (_: unknown, deployment_id) => ({ deployment_id, status: 'AWAITING_DELETE' }),
  DeploymentDeleted: ({ name }: DeploymentDeletedMessage, deployment_id) => ({ deployment_id, name }),
};

export const revisionFacts: Tellers = {
  RevisionCreated: ({ revision_id, source, ...message }: RevisionCreatedMessage, deployment_id) => ({
    revision_id,
    deployment_id,
    source,
    source_revision_config: publicRevision(message.source_revision_config),
    redeployed_from: message.redeployed_from ?? null,
  }),
  RevisionStatusChanged: (message: RevisionStatusChangedMessage, deployment_id) => {
    const { revision_id, previous_status, status } = message;
    return { revision_id, deployment_id, previous_status, status };
  },
  RevisionActivated: ({ revision_id, previous_revision_id }: RevisionActivatedMessage, deployment_id) => ({
    revision_id,
    deployment_id,
    previous_revision_id,
  }),
};

export const experimentFacts: Tellers = {
  DatasetCreated: ({ name, description, data_type }: DatasetCreatedMessage, dataset_id) => ({
    dataset_id,
    name,
    description,
    data_type,
  }),
  DatasetDeleted: (_: unknown, dataset_id) => ({ dataset_id }),
  ExperimentUploaded: ({ dataset, ...message }: ExperimentUploadedMessage, session_id) => {
    const { name, start_time, end_time, row_count, test_run_number } = message;
    const { id: dataset_id, name: dataset_name } = dataset;
    return { session_id, name, dataset_id, dataset_name, test_run_number, row_count, start_time, end_time };
  },
  RunsPersisted: (message: RunsPersistedMessage, session_id) => {
    const { run_count, error_rate, latency_p50, latency_p99, example_count } = message;
    return { session_id, run_count, error_rate, latency_p50, latency_p99, example_count };
  },
  SessionCreated: ({ name, reference_dataset_id, deployment_id }: SessionCreatedMessage, session_id) => ({
    session_id,
    name,
    reference_dataset_id,
    deployment_id: deployment_id ?? null,
  }),
  SessionDeleted: (_: unknown, session_id) => ({ session_id }),
  FeedbackAdded: ({ id: feedback_id, run_id, key, score, created_at }: FeedbackAddedMessage, session_id) => ({
    feedback_id,
    session_id,
    run_id,
    key,
    score,
    created_at,
  }),
};

const connectionFacts: Tellers = {
  IntegrationAdded: ({ name, provider, base_url }: IntegrationAddedMessage, integration_id) => ({
    integration_id,
    name,
    provider,
    base_url,
  }),
  IntegrationChanged: (message: object, integration_id) => ({ integration_id, changed: Object.keys(message) }),
  IntegrationRemoved: (_: unknown, integration_id) => ({ integration_id }),
  OAuthProviderAdded: ({ provider_id, name }: OAuthProviderAddedMessage, id) => ({ id, provider_id, name }),
  OAuthProviderChanged: (message: object, id) => ({ id, changed: Object.keys(message) }),
  OAuthProviderRemoved: (_: unknown, id) => ({ id }),
};

const TELLERS: Tellers = { ...deploymentFacts, ...revisionFacts, ...experimentFacts, ...connectionFacts };

/** Types of the events that the world outside is told of. */
export const FACT_TYPES = Object.keys(TELLERS);

/** What the world outside is told of an event: ids and plain facts, nothing sealed, nothing opaque; undefined for nothing. */
export function factsOf({ type, stream, data }: LoggedEvent): object | undefined {
  return Object.hasOwn(TELLERS, type)
    ? TELLERS[type]?.(data as never, stream.slice(stream.indexOf('-') + 1))
    : undefined;
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
