import type {
  DeploymentCreatedMessage,
  DeploymentDeletedMessage,
  DeploymentStatusReportedMessage,
} from '../ports/deployments';
import type { RevisionHeldMessage, RevisionReleasedMessage } from '../ports/gates';
import type {
  DeploymentPatchedMessage,
  RevisionActivatedMessage,
  RevisionCreatedMessage,
  RevisionSource,
  RevisionStatusChangedMessage,
  SourceConfig,
} from '../ports/rollouts';
import { ID, idOrNull, members, ref, TEXT, TEXT_OR_NULL, TIME } from './payload';
import type { Row } from './row';

function control<const O extends string>(operation: O) {
  const facts = (_: unknown, deployment_id: string) => ({ deployment_id });
  return { schema: 1, operation, topic: 'internal.v1', facts } as const;
}

export const deploymentEvents = {
  DeploymentCreated: {
    schema: 1,
    operation: 'create_deployment',
    topic: 'deployments.v1',
    webhook: 'deployment.created',
    title: 'A deployment has been created.',
    facts: ({ name, source, ...message }: DeploymentCreatedMessage, deployment_id) => ({
      deployment_id,
      name,
      source,
      source_config: publicConfig(message.source_config),
      source_revision_config: publicRevision(message.source_revision_config),
    }),
    payload: members({
      deployment_id: ID,
      name: TEXT,
      source: TEXT,
      source_config: ref('SourceConfig'),
      source_revision_config: ref('SourceRevisionConfig'),
    }),
  },
  DeploymentPatched: {
    schema: 1,
    operation: 'update_deployment',
    topic: 'deployments.v1',
    webhook: 'deployment.patched',
    title: 'Members of a deployment have changed.',
    facts: (message: DeploymentPatchedMessage, deployment_id) => ({
      deployment_id,
      changed: changedMembers(message),
      ...(message.source_config && { source_config: publicConfig(message.source_config) }),
      ...(message.source_revision_config && {
        source_revision_config: publicRevision(message.source_revision_config),
      }),
    }),
    payload: members(
      {
        deployment_id: ID,
        changed: {
          type: 'array',
          description: 'Names of the members, those of source_config with `source_config.` before them.',
          items: TEXT,
        },
      },
      { source_config: ref('SourceConfig'), source_revision_config: ref('SourceRevisionConfig') },
    ),
  },
  DeploymentProvisioned: {
    schema: 1,
    operation: 'update_deployment',
    topic: 'deployments.v1',
    webhook: 'deployment.status_changed',
    title: 'A deployment can be used.',
    facts: (_: unknown, deployment_id) => ({ deployment_id, status: 'READY' }),
    payload: ref('DeploymentStatus'),
  },
  DeploymentStatusReported: {
    schema: 1,
    operation: 'update_deployment',
    topic: 'deployments.v1',
    webhook: 'deployment.status_changed',
    title: 'A deployment cannot be reached, or nobody uses it, or neither any more.',
    facts: ({ status, reason, crash_looping }: DeploymentStatusReportedMessage, deployment_id) => ({
      deployment_id,
      status,
      ...(reason !== undefined && { reason }),
      ...(crash_looping && { crash_looping }),
    }),
    payload: ref('DeploymentStatus'),
  },
  DeploymentStopRequested: control('stop_deployment'),
  DeploymentStartRequested: control('start_deployment'),
  DeploymentRestartRequested: control('restart_deployment'),
  DeploymentDeletionRequested: {
    schema: 1,
    operation: 'delete_deployment',
    topic: 'deployments.v1',
    webhook: 'deployment.status_changed',
    title: 'A deployment is being deleted.',
    facts: (_: unknown, deployment_id) => ({ deployment_id, status: 'AWAITING_DELETE' }),
    payload: ref('DeploymentStatus'),
  },
  DeploymentDeleted: {
    schema: 1,
    operation: 'delete_deployment',
    topic: 'deployments.v1',
    webhook: 'deployment.deleted',
    title: 'A deployment is gone and its name free again.',
    facts: ({ name }: DeploymentDeletedMessage, deployment_id) => ({ deployment_id, name }),
    payload: members({ deployment_id: ID, name: TEXT }),
  },
  RevisionCreated: {
    schema: 1,
    operation: 'update_deployment',
    topic: 'revisions.v1',
    webhook: 'revision.created',
    title: 'A revision waits to be rolled out.',
    facts: ({ revision_id, source, ...message }: RevisionCreatedMessage, deployment_id) => ({
      revision_id,
      deployment_id,
      source,
      source_revision_config: publicRevision(message.source_revision_config),
      redeployed_from: message.redeployed_from ?? null,
      ...(message.push && { push: message.push }),
    }),
    payload: members(
      {
        revision_id: ID,
        deployment_id: ID,
        source: TEXT,
        source_revision_config: ref('SourceRevisionConfig'),
        redeployed_from: idOrNull('The revision that this one repeats.'),
      },
      {
        push: {
          description: 'The push that it was made for; absent for others.',
          ...members({ delivery_id: ID, pusher: TEXT_OR_NULL, author: TEXT_OR_NULL, subject: TEXT_OR_NULL }),
        },
      },
    ),
  },
  RevisionStatusChanged: {
    schema: 1,
    operation: 'update_revision_status',
    topic: 'revisions.v1',
    webhook: 'revision.status_changed',
    title: 'A revision has another status.',
    facts: ({ revision_id, previous_status, status, reason }: RevisionStatusChangedMessage, deployment_id) => ({
      revision_id,
      deployment_id,
      previous_status,
      status,
      ...(reason !== undefined && { reason }),
    }),
    payload: members(
      {
        revision_id: ID,
        deployment_id: ID,
        previous_status: ref('RevisionStatus'),
        status: ref('RevisionStatus'),
      },
      { reason: TEXT },
    ),
  },
  RevisionHeld: {
    schema: 1,
    operation: 'hold_revision',
    topic: 'revisions.v1',
    webhook: 'revision.held',
    title: 'A revision is ready to be deployed and waits for evidence.',
    facts: ({ revision_id, gates, active_revision_id, until }: RevisionHeldMessage, deployment_id) => ({
      revision_id,
      deployment_id,
      active_revision_id,
      until,
      gates,
    }),
    payload: members({
      revision_id: ID,
      deployment_id: ID,
      active_revision_id: idOrNull('The revision that serves meanwhile.'),
      until: TIME,
      gates: { type: 'array', description: 'As the API answers them.', items: { type: 'object' } },
    }),
  },
  RevisionReleased: {
    schema: 1,
    operation: 'release_revision',
    topic: 'revisions.v1',
    webhook: 'revision.released',
    title: 'A revision with gates may be deployed.',
    facts: ({ revision_id, by }: RevisionReleasedMessage, deployment_id) => ({ revision_id, deployment_id, by }),
    payload: members({ revision_id: ID, deployment_id: ID, by: { enum: ['verdict', 'override', 'roll back'] } }),
  },
  GatesDeclared: { schema: 1, operation: 'update_gates', topic: 'internal.v1', facts: () => ({}) },
  RevisionActivated: {
    schema: 1,
    operation: 'update_revision',
    topic: 'revisions.v1',
    webhook: 'revision.activated',
    title: 'A revision is the one that runs.',
    facts: ({ revision_id, previous_revision_id, reason }: RevisionActivatedMessage, deployment_id) => ({
      revision_id,
      deployment_id,
      previous_revision_id,
      ...(reason !== undefined && { reason }),
    }),
    payload: members({ revision_id: ID, deployment_id: ID, previous_revision_id: idOrNull() }, { reason: TEXT }),
  },
  RevisionCommitResolved: { schema: 1, operation: 'revision_commit_resolved' },
  TracingProjectNamed: { schema: 1, operation: 'update_deployment' },
  BuildOnPushPaused: { schema: 1, operation: 'build_on_push_paused' },
  CommitSkipped: { schema: 1, operation: 'commit_skipped' },
  UploadPathIssued: { schema: 1, operation: 'create_upload_path' },
  DeploymentTagged: { schema: 1, operation: 'update_deployment' },
  SecretsRead: { schema: 1, operation: 'read_secrets' },
  ListenerCreated: { schema: 1, operation: 'create_listener' },
  ListenerPatched: { schema: 1, operation: 'update_listener' },
  ListenerDeleted: { schema: 1, operation: 'delete_listener' },
} as const satisfies Readonly<Record<string, Row>>;

/** Names only: among the values are secrets, commands and specifications that may hold some. */
function changedMembers({ source_config, ...others }: DeploymentPatchedMessage): string[] {
  return [...Object.keys(source_config ?? {}).map((name) => `source_config.${name}`), ...Object.keys(others)];
}

function publicConfig(config: SourceConfig) {
  const { integration_id, repo_url, deployment_type, build_on_push, build_on_push_paths, custom_url, listener_id } =
    config;
  return {
    ...{ integration_id, repo_url, deployment_type, build_on_push },
    ...(build_on_push_paths && { build_on_push_paths }),
    ...{ custom_url, listener_id },
  };
}

function publicRevision(config: RevisionSource) {
  const { repo_ref, repo_commit_sha, graph_config_path, image_uri, source_tarball_path } = config;
  return { repo_ref, repo_commit_sha, graph_config_path, image_uri, source_tarball_path };
}
