import { etag } from '@fairlead/api';
import { plannedChanges } from '../model/audit';
import type { Deployment } from '../model/deployment';
import type { Rehearsed, Tried } from './deployment.commands';
import type { SourceRevisionConfig } from '../model/deployment-events';
import type { Revision } from '../model/revision';
import { MASK } from '../model/secrets';
import { imageVersion } from '../model/image-reference';

/**
 * A deployment as answers show it, in the specification's names: every member of `source_config` and
 * `source_revision_config` is there, null when not set; `resource_spec` holds what was given.
 * Secrets show a mask instead of a value.
 */
export function deploymentRecord(state: Deployment) {
  const config = state.source_config;
  return {
    name: state.name,
    source: state.source,
    source_config: {
      integration_id: config.integration_id ?? null,
      repo_url: config.repo_url ?? null,
      deployment_type: config.deployment_type ?? null,
      build_on_push: config.build_on_push ?? null,
      build_on_push_paths: config.build_on_push_paths ?? null,
      custom_url: config.custom_url || null,
      resource_spec: config.resource_spec ?? null,
      listener_id: config.listener_id ?? null,
      listener_config: config.listener_config
        ? { cluster_namespace: config.listener_config.cluster_namespace ?? null }
        : null,
      install_command: config.install_command ?? null,
      build_command: config.build_command ?? null,
    },
    source_revision_config: revisionConfigRecord(state.source_revision_config),
    secrets: state.secrets.map(({ name }) => ({ name, value: MASK })),
    secret_references: state.secret_references,
    ...(state.agent && { agent: state.agent }),
    ...(state.executor && { executor: state.executor }),
    ...(state.status_reason !== undefined && { status_reason: state.status_reason }),
    ...(state.crash_looping && { crash_looping: true as const }),
    ...(state.stopped && { stopped: true as const }),
    ...(state.tracing_project && { tracing_project: state.tracing_project }),
    id: state.id,
    tenant_id: state.tenant_id,
    created_at: state.created_at,
    updated_at: state.updated_at,
    status: state.status,
    latest_revision_id: state.latest_revision_id,
    active_revision_id: state.active_revision_id,
    image_version: imageVersion(state.source_revision_config.image_uri),
  };
}

export type DeploymentRecord = ReturnType<typeof deploymentRecord>;

/** Members of a deployment that its record does not show; `deploymentOf` puts both together again. */
export function unshownPart(state: Deployment) {
  const { revision_source, own_revision_config, secrets, tag_value_ids, upload_paths, running } = state;
  const { status_reason, build_on_push_paused, skipped_commits, edition, gates, held } = state;
  return {
    revision_source,
    own_revision_config,
    secrets,
    tag_value_ids,
    upload_paths,
    running,
    status_reason,
    build_on_push_paused,
    skipped_commits,
    edition,
    gates,
    held,
  };
}

/** The deployment behind a record, without the revisions that wait. */
export function deploymentOf(record: DeploymentRecord, unshown: ReturnType<typeof unshownPart>): Deployment {
  const { name, id, tenant_id, source, status, secret_references, created_at, updated_at } = record;
  const { agent, executor, crash_looping, stopped, tracing_project } = record;
  const { latest_revision_id, active_revision_id, source_revision_config } = record;
  const { listener_config, ...config } = record.source_config;
  return {
    name,
    id,
    tenant_id,
    source,
    status,
    secret_references,
    created_at,
    updated_at,
    latest_revision_id,
    active_revision_id,
    ...(agent && { agent }),
    ...(executor && { executor }),
    ...(crash_looping && { crash_looping }),
    ...(stopped && { stopped }),
    ...(tracing_project && { tracing_project }),
    ...unshown,
    source_config: { ...present(config), ...(listener_config && { listener_config: present(listener_config) }) },
    source_revision_config: present(source_revision_config),
    queued: [],
    removed: false,
  };
}

/** The members that are not null: in a configuration null stands for absent. */
function present<T extends object>(members: T) {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}

/** A revision as answers show it: exactly these six members. */
export function revisionRecord(
  revision: Pick<Revision, 'id' | 'created_at' | 'updated_at' | 'status' | 'source' | 'source_revision_config'>,
) {
  const { id, created_at, updated_at, status, source } = revision;
  const source_revision_config = revisionConfigRecord(revision.source_revision_config);
  return { id, created_at, updated_at, status, source, source_revision_config };
}

export function revisionConfigRecord(config: SourceRevisionConfig) {
  return {
    repo_ref: config.repo_ref ?? null,
    graph_config_path: config.graph_config_path ?? null,
    image_uri: config.image_uri ?? null,
    source_tarball_path: config.source_tarball_path ?? null,
    repo_commit_sha: config.repo_commit_sha ?? null,
  };
}

/** The part of a reply that answers with deployments set. */
interface Reply {
  header(name: string, value: string): Reply;
  getHeader(name: string): unknown;
  status(code: number): Reply;
}

/** Adds warnings to an answer and returns them; one that is undefined is none. */
export function warn(reply: Reply, ...warnings: readonly (string | undefined)[]): readonly string[] {
  const said = warnings.filter((text) => text !== undefined);
  const earlier = reply.getHeader('warning');
  const all = [...(typeof earlier === 'string' ? [earlier] : []), ...said.map(warningValue)];
  if (all.length > 0) reply.header('warning', all.join(', '));
  return said;
}

/** A warning as the value of a header. */
function warningValue(text: string): string {
  return `299 - ${JSON.stringify(text.replaceAll(/[^\x20-\x7e]/g, '?'))}`;
}

/** Answers with a deployment and its ETag, without the values of its secrets, in the specification's names: safe to keep. */
export function answerWith(reply: Reply, state: Deployment): DeploymentRecord {
  reply.header('etag', etag(state.edition));
  return deploymentRecord(state);
}

/** Answers with what a command that was only tried would make of a deployment, or what it would change, and warnings. */
export function answerTried(
  reply: Reply,
  wanted: true | 'plan',
  tried: Rehearsed,
  ...warnings: readonly (string | undefined)[]
) {
  warn(reply, ...tried.warnings);
  const said = warn(reply, ...warnings);
  if (wanted === 'plan') return answerPlan(reply, tried, said);
  reply.header('x-dry-run', 'true');
  return answerWith(reply, tried.state);
}

/** Answers with what a command that was only tried would change. */
export function answerPlan(reply: Reply, { before, state, events }: Tried, warnings: readonly string[] = []) {
  reply.status(200).header('x-dry-run', 'true');
  const skipped = events.find((event) => event.type === 'CommitSkipped');
  return {
    changes: plannedChanges(before, state),
    creates_revision: events.some(({ type }) => type === 'RevisionCreated'),
    pauses_push: events.some(({ type }) => type === 'BuildOnPushPaused'),
    ...(skipped && { skips_commit: skipped.data.repo_commit_sha }),
    etag: before && etag(before.edition),
    ...(warnings.length > 0 && { warnings }),
  };
}
