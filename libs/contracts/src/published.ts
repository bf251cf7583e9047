import type { DeploymentPatchedMessage, RevisionSourceMessage, SourceConfigMessage } from './rollouts';

/** An event of the log, as far as it is published. */
export interface PublishedEvent {
  readonly type: string;
  /** `category-id` */
  readonly stream: string;
  readonly data: unknown;
}

type Teller = (data: never, id: string) => object;

interface Dataset {
  readonly id: string;
  readonly name: string;
}

/** What the world outside is told of an event: ids and plain facts, nothing sealed, nothing opaque. Each takes the id in the stream's name. */
const DEPLOYMENTS: Readonly<Record<string, Teller>> = {
  DeploymentCreated: (data: Record<string, unknown>, deployment_id) => ({
    deployment_id,
    ...pick(data, ['name', 'source']),
    source_config: publicConfig(data.source_config as SourceConfigMessage),
    source_revision_config: publicRevision(data.source_revision_config as RevisionSourceMessage),
  }),
  DeploymentPatched: (data: DeploymentPatchedMessage & Record<string, unknown>, deployment_id) => ({
    deployment_id,
    changed: changedMembers(data),
    ...(data.source_config && { source_config: publicConfig(data.source_config) }),
    ...(data.source_revision_config !== undefined && {
      source_revision_config: publicRevision(data.source_revision_config),
    }),
  }),
  DeploymentProvisioned: (_: unknown, deployment_id) => ({ deployment_id, status: 'READY' }),
  DeploymentStatusReported: (data: Record<string, unknown>, deployment_id) => ({
    deployment_id,
    ...pick(data, ['status', 'reason']),
  }),
  DeploymentDeletionRequested: (_: unknown, deployment_id) => ({ deployment_id, status: 'AWAITING_DELETE' }),
  DeploymentDeleted: (data: Record<string, unknown>, deployment_id) => ({ deployment_id, ...pick(data, ['name']) }),
};

const REVISIONS: Readonly<Record<string, Teller>> = {
  RevisionCreated: (data: Record<string, unknown>, deployment_id) => ({
    ...pick(data, ['revision_id']),
    deployment_id,
    ...pick(data, ['source']),
    source_revision_config: publicRevision(data.source_revision_config as RevisionSourceMessage),
    redeployed_from: data.redeployed_from ?? null,
  }),
  RevisionStatusChanged: (data: Record<string, unknown>, deployment_id) => ({
    ...pick(data, ['revision_id']),
    deployment_id,
    ...pick(data, ['previous_status', 'status']),
  }),
  RevisionActivated: (data: Record<string, unknown>, deployment_id) => ({
    ...pick(data, ['revision_id']),
    deployment_id,
    ...pick(data, ['previous_revision_id']),
  }),
};

const EXPERIMENTS: Readonly<Record<string, Teller>> = {
  DatasetCreated: (data: Record<string, unknown>, dataset_id) => ({
    dataset_id,
    ...pick(data, ['name', 'description', 'data_type']),
  }),
  DatasetDeleted: (_: unknown, dataset_id) => ({ dataset_id }),
  ExperimentUploaded: ({ dataset, ...data }: { dataset: Dataset } & Record<string, unknown>, session_id) => ({
    session_id,
    dataset_id: dataset.id,
    dataset_name: dataset.name,
    ...pick(data, ['name', 'test_run_number', 'row_count', 'start_time', 'end_time']),
  }),
  RunsPersisted: (data: Record<string, unknown>, session_id) => ({
    session_id,
    ...pick(data, ['run_count', 'error_rate', 'latency_p50', 'latency_p99', 'example_count']),
  }),
  SessionCreated: (data: Record<string, unknown>, session_id) => ({
    session_id,
    ...pick(data, ['name', 'reference_dataset_id']),
    deployment_id: data.deployment_id ?? null,
  }),
  SessionDeleted: (_: unknown, session_id) => ({ session_id }),
  FeedbackAdded: ({ id, ...data }: { id: string } & Record<string, unknown>, session_id) => ({
    feedback_id: id,
    session_id,
    ...pick(data, ['run_id', 'key', 'score', 'created_at']),
  }),
};

/** What services tell only one another: the message says that the event is there, and no more. */
const INTERNAL = [
  'CommitResolved',
  'HostStatusReported',
  'IntegrationRemoved',
  'PushReceived',
  'RolloutStatusReported',
  'RunsReceived',
  'WebhookRemoved',
] as const;

const TELLERS: Readonly<Record<string, Teller>> = { ...DEPLOYMENTS, ...REVISIONS, ...EXPERIMENTS };

function onTopic(topic: string, types: readonly string[]): [string, string][] {
  return types.map((type) => [type, topic]);
}

/** What of the log is sent to Kafka: the topic of each type, and what its messages tell. Described in asyncapi.yaml. */
export const publications = {
  topics: new Map([
    ...onTopic('deployments.v1', Object.keys(DEPLOYMENTS)),
    ...onTopic('revisions.v1', Object.keys(REVISIONS)),
    ...onTopic('experiments.v1', Object.keys(EXPERIMENTS)),
    ...onTopic('internal.v1', INTERNAL),
  ]),
  data({ type, stream, data }: PublishedEvent): object | undefined {
    return TELLERS[type]?.(data as never, stream.slice(stream.indexOf('-') + 1));
  },
};

/** Names only: among the values are secrets, commands and specifications that may hold some. */
function changedMembers({ source_config, ...others }: DeploymentPatchedMessage): string[] {
  return [...Object.keys(source_config ?? {}).map((name) => `source_config.${name}`), ...Object.keys(others)];
}

function publicConfig(config: SourceConfigMessage) {
  return pick(config, [
    'integration_id',
    'repo_url',
    'deployment_type',
    'build_on_push',
    'custom_url',
    'listener_id',
  ] as (keyof SourceConfigMessage)[]);
}

function publicRevision(config: RevisionSourceMessage) {
  return pick(config, ['repo_ref', 'repo_commit_sha', 'graph_config_path', 'image_uri', 'source_tarball_path']);
}

function pick<T extends object>(from: T, members: readonly (keyof T & string)[]): Partial<T> {
  return Object.fromEntries(
    members.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]),
  ) as Partial<T>;
}
