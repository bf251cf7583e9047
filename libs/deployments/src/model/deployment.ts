import { type DeploymentStatusReportedMessage, type Gate, NO_TURNS, turned, type Turns } from '@fairlead/contracts';
import { type Aggregate, type Model, type Recorded, same } from '@fairlead/eventing';
import type {
  Agent,
  DeploymentEvent,
  DeploymentStatus,
  Secret,
  SecretReference,
  Snapshot,
  Source,
  SourceConfig,
  SourceRevisionConfig,
} from './deployment-events';
import { DeploymentBeingDeleted, DeploymentNotFound } from './deployment.errors';

/** A deployment as its events tell it. */
export interface Deployment extends Turns {
  readonly id: string;
  readonly tenant_id: string;
  readonly name: string;
  readonly source: Source;
  readonly source_config: SourceConfig;
  /** Configuration of the latest revision. */
  readonly source_revision_config: SourceRevisionConfig;
  /** Source of the latest revision: differs from `source` after a PATCH with `revision_source`. */
  readonly revision_source: Source;
  /** The newest configuration for the deployment's own source: what a revision without an override starts from. */
  readonly own_revision_config: SourceRevisionConfig;
  readonly secrets: readonly Secret[];
  readonly secret_references: readonly SecretReference[] | null;
  readonly tag_value_ids: readonly string[];
  /** Paths that upload-url gave out. */
  readonly upload_paths: readonly string[];
  readonly created_at: string;
  readonly updated_at: string;
  readonly status: DeploymentStatus;
  /** Why it is UNKNOWN or UNUSED. */
  readonly status_reason?: string;
  /** Present while it is UNKNOWN because all its processes end again and again. */
  readonly crash_looping?: true;
  /** Name of its tracing project, when that is not its own. */
  readonly tracing_project?: string;
  /** Present after a roll-back that switched `build_on_push` off until the next change of what is built. */
  readonly build_on_push_paused?: boolean;
  /** Commits that roll-backs left behind, of which no push makes a revision: the newest last, at most `MOST_SKIPPED`. */
  readonly skipped_commits?: readonly string[];
  /** Number of events that changed something clients may change. It is the ETag: no rollout of its own changes it. */
  readonly edition: number;
  readonly agent?: Agent;
  /** Gates that hold its next revisions; absent when there are none. */
  readonly gates?: readonly Gate[];
}

/** null until the deployment has been created. */
export type DeploymentState = Deployment | null;

export const deploymentModel: Model<DeploymentState, DeploymentEvent> = {
  initial: null,
  evolve,
  edition: (state) => state?.edition ?? 0,
};

export const deploymentAggregate: Aggregate<Deployment, DeploymentEvent> = {
  category: 'deployment',
  model: deploymentModel,
  notFound: (id) => new DeploymentNotFound(id),
};

/** Events of a deployment that clients ask for. The others report a rollout, or are not shown in the record. */
const WISHES: ReadonlySet<DeploymentEvent['type']> = new Set<DeploymentEvent['type']>([
  'DeploymentPatched',
  'RevisionCreated',
  'BuildOnPushPaused',
  'CommitSkipped',
  'DeploymentTagged',
  'GatesDeclared',
  'RevisionReleased',
  'DeploymentStopRequested',
  'DeploymentStartRequested',
  'DeploymentDeletionRequested',
]);

function evolve(state: DeploymentState, event: Recorded<DeploymentEvent>): DeploymentState {
  if (event.type === 'DeploymentCreated') return created(event.data, event.time);
  if (!state) return state;
  const edition = state.edition + Number(WISHES.has(event.type));
  return { ...state, ...turned(state, event), ...change(state, event), edition, updated_at: event.time };
}

function created(data: (DeploymentEvent & { type: 'DeploymentCreated' })['data'], time: string): Deployment {
  const { deployment_id, ...members } = data;
  return {
    ...members,
    id: deployment_id,
    revision_source: data.source,
    own_revision_config: data.source_revision_config,
    tag_value_ids: [],
    upload_paths: [],
    created_at: time,
    updated_at: time,
    status: 'AWAITING_DATABASE',
    ...NO_TURNS,
    edition: 1,
  };
}

function change(state: Deployment, event: DeploymentEvent): Partial<Deployment> {
  switch (event.type) {
    case 'DeploymentProvisioned':
      // That it could not be reached was said before it was deployed.
      return state.status === 'AWAITING_DELETE'
        ? {}
        : { status: 'READY', status_reason: undefined, crash_looping: undefined };
    case 'DeploymentStatusReported':
      return state.status === 'AWAITING_DELETE' ? {} : reported(event.data);
    case 'DeploymentPatched':
      return {
        ...event.data,
        ...usedAgain(state),
        source_config: { ...state.source_config, ...event.data.source_config },
        ...(event.data.source_config?.build_on_push !== undefined && { build_on_push_paused: undefined }),
      };
    case 'RevisionCreated':
      return revisionCreated(state, event.data);
    case 'RevisionCommitResolved':
      return commitResolved(state, event.data);
    case 'BuildOnPushPaused':
      return { source_config: { ...state.source_config, build_on_push: false }, build_on_push_paused: true };
    case 'CommitSkipped':
      return { skipped_commits: skipped(state.skipped_commits ?? [], event.data.repo_commit_sha) };
    case 'TracingProjectNamed':
      return { tracing_project: event.data.name };
    case 'UploadPathIssued':
      return { upload_paths: [...state.upload_paths, event.data.object_path] };
    case 'GatesDeclared':
      return { gates: event.data.gates.length > 0 ? event.data.gates : undefined };
    case 'DeploymentTagged':
      return { tag_value_ids: event.data.tag_value_ids };
    case 'DeploymentDeletionRequested':
      return { status: 'AWAITING_DELETE' };
    default:
      return {};
  }
}

function reported({ status, reason, crash_looping }: DeploymentStatusReportedMessage): Partial<Deployment> {
  return { status, status_reason: reason, crash_looping };
}

const MOST_SKIPPED = 20;

function skipped(earlier: readonly string[], commit: string): readonly string[] {
  return [...earlier.filter((one) => one !== commit), commit].slice(-MOST_SKIPPED);
}

/** A change ends being unused. */
function usedAgain({ status }: Deployment): Partial<Deployment> {
  return status === 'UNUSED' ? { status: 'READY' } : {};
}

function revisionCreated(state: Deployment, snapshot: Snapshot): Partial<Deployment> {
  const { source, source_revision_config, resource_spec, secrets, secret_references } = snapshot;
  return {
    ...usedAgain(state),
    source_config: { ...state.source_config, resource_spec: resource_spec ?? undefined },
    source_revision_config,
    revision_source: source,
    own_revision_config: source === state.source ? source_revision_config : state.own_revision_config,
    secrets,
    secret_references,
  };
}

function commitResolved(state: Deployment, resolved: { revision_id: string; repo_commit_sha: string }) {
  const { repo_commit_sha, revision_id } = resolved;
  if (state.latest_revision_id !== revision_id) return {};
  const source_revision_config = { ...state.source_revision_config, repo_commit_sha };
  const isOwn = state.revision_source === state.source;
  return { source_revision_config, ...(isOwn && { own_revision_config: source_revision_config }) };
}

/** Snapshot that a revision would have if it were made now. */
export function snapshotOf(state: Deployment): Snapshot {
  return {
    source: state.revision_source,
    source_revision_config: state.source_revision_config,
    resource_spec: state.source_config.resource_spec ?? null,
    secrets: state.secrets,
    secret_references: state.secret_references,
  };
}

/** @throws DeploymentBeingDeleted once deletion was requested. */
export function checkChangeable(state: Deployment): void {
  if (state.status === 'AWAITING_DELETE') throw new DeploymentBeingDeleted(state.id);
}

/**
 * Reports the place where the deployment runs: UNKNOWN until it can be reached, and then READY if a revision has ever
 * been deployed, or UNUSED while that sleeps. UNKNOWN for another reason is reported too, but a crash loop once, whatever
 * is counted meanwhile.
 */
export function reportHost(
  status: 'READY' | 'UNUSED' | 'UNKNOWN',
  reason?: string,
  crash_looping?: true,
): (state: DeploymentState) => DeploymentEvent[] {
  return (state) => {
    if (!state || state.removed || state.status === 'AWAITING_DELETE') return [];
    const now = status !== 'UNKNOWN' && state.active_revision_id === null ? 'AWAITING_DATABASE' : status;
    const isSame = state.status_reason === reason || (crash_looping && state.crash_looping);
    if (state.status === now && (now !== 'UNKNOWN' || isSame)) return [];
    const data = { status: now, ...(reason && { reason }), ...(crash_looping && { crash_looping }) } as const;
    return [{ type: 'DeploymentStatusReported', data }];
  };
}

/** Notes the name of the deployment's tracing project when it is not the deployment's own. */
export function nameTracingProject(name: string): (state: Deployment) => DeploymentEvent[] {
  return (state) =>
    name === state.name || name === state.tracing_project ? [] : [{ type: 'TracingProjectNamed', data: { name } }];
}

/** Replaces the tag values; the same set changes nothing. */
export function tag(tagValueIds: readonly string[]): (state: Deployment) => DeploymentEvent[] {
  const wanted = [...new Set(tagValueIds)];
  return (state) => {
    checkChangeable(state);
    if (same([...wanted].sort(), [...state.tag_value_ids].sort())) return [];
    return [{ type: 'DeploymentTagged', data: { tag_value_ids: wanted } }];
  };
}

/** Remembers a path that was handed out for a source tarball, so that a later PATCH may name it. */
export function issueUploadPath(objectPath: string): (state: Deployment) => DeploymentEvent[] {
  return (state) => {
    checkChangeable(state);
    if (state.upload_paths.includes(objectPath)) return [];
    return [{ type: 'UploadPathIssued', data: { object_path: objectPath } }];
  };
}

/** Asks for removal; asking again changes nothing. */
export function requestDeletion(deleteTracingProject: boolean): (state: Deployment) => DeploymentEvent[] {
  return ({ status, name }) => {
    if (status === 'AWAITING_DELETE') return [];
    const data = { name, delete_tracing_project: deleteTracingProject };
    return [{ type: 'DeploymentDeletionRequested', data }];
  };
}

/** Everything that the deployment had is gone: it is no longer there. */
export function completeDeletion(state: DeploymentState): DeploymentEvent[] {
  if (!state || state.removed || state.status !== 'AWAITING_DELETE') return [];
  return [{ type: 'DeploymentDeleted', data: { name: state.name } }];
}
