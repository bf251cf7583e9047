import type {
  ControlAction,
  DeploymentCreatedMessage,
  DeploymentPatchedMessage,
  RevisionActivatedMessage,
  RevisionCreatedMessage,
  RevisionStatusChangedMessage,
  SealedSecret,
  SourceConfigMessage,
} from '@fairlead/contracts';
import type { DomainEvent, Model, Recorded } from '@fairlead/eventing';

/** A deployment's events as far as rollouts understand them; all others pass by. */
export type TargetEvent =
  | DomainEvent<
      'DeploymentCreated',
      DeploymentCreatedMessage & {
        readonly source_config: SourceConfigMessage;
        readonly secrets: readonly SealedSecret[];
      }
    >
  | DomainEvent<'DeploymentPatched', DeploymentPatchedMessage & { readonly source_config?: Sizes }>
  | DomainEvent<'RevisionCreated', RevisionCreatedMessage>
  | DomainEvent<'RevisionStatusChanged', RevisionStatusChangedMessage>
  | DomainEvent<'RevisionActivated', RevisionActivatedMessage>
  | DomainEvent<'DeploymentStopRequested' | 'DeploymentStartRequested' | 'DeploymentRestartRequested', unknown>
  | DomainEvent<'DeploymentDeletionRequested' | 'DeploymentDeleted', unknown>;

interface Sizes {
  readonly resource_spec?: RevisionCreatedMessage['resource_spec'];
}

/** A deployment as something to roll revisions out to, folded from its stream. */
export interface Deployed {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly config: SourceConfigMessage;
  /** Secrets of the newest revision, or of the deployment while it has none. */
  readonly secrets: readonly SealedSecret[];
  /** Ids of all there ever were. */
  readonly revisions: ReadonlySet<string>;
  /** Revisions that wait, oldest first. */
  readonly queued: readonly RevisionCreatedMessage[];
  /** The only one that may be worked on. */
  readonly running: RevisionCreatedMessage | null;
  readonly latest: { readonly revision_id: string; readonly status: string } | null;
  /** The revision that runs, and what deployed it: not known of those that earlier versions deployed. */
  readonly active: ActiveRevision | null;
  /** The revision that ran before it. */
  readonly previous: ActiveRevision | null;
  /** The last revision that a newer one has replaced before it was ready. */
  readonly replaced: { readonly revision_id: string; readonly by: string } | null;
  /**
   * Revisions that have ended since the active one was activated, oldest first, or the last of them: they may have left
   * something behind.
   */
  readonly ended: readonly RevisionCreatedMessage[];
  /** The version of the stream in which its sizes were last changed without a revision; 0: never. */
  readonly sized: number;
  /** Somebody has stopped it and not started it again. */
  readonly stopped: boolean;
  /**
   * The last action that is to be carried out on the running program, and the version of the stream that asks for it.
   */
  readonly control: { readonly action: ControlAction; readonly version: number } | null;
  readonly deleting: boolean;
  readonly removed: boolean;
}

interface ActiveRevision {
  readonly revision_id: string;
  readonly executor?: string;
  readonly revision?: RevisionCreatedMessage;
}

/** A deployment, or null before its stream begins. */
export type Target = Deployed | null;

/** Revisions in `ended`. */
const MOST_ENDED = 10;

/** Folds the stream of a deployment into what rollouts need of it. */
export const targetModel: Model<Target, TargetEvent> = {
  initial: null,
  evolve(state, event: Recorded<TargetEvent>) {
    if (event.type === 'DeploymentCreated') {
      const { deployment_id: id, tenant_id: tenantId, name, source_config: config, secrets } = event.data;
      const none = {
        revisions: new Set<string>(),
        queued: [],
        running: null,
        latest: null,
        active: null,
        previous: null,
        replaced: null,
        ended: [],
        sized: 0,
        stopped: false,
        control: null,
      };
      return { id, tenantId, name, config, secrets, ...none, deleting: false, removed: false };
    }
    return state && { ...state, ...change(state, event) };
  },
};

function change(
  state: Deployed,
  event: Recorded<Exclude<TargetEvent, { type: 'DeploymentCreated' }>>,
): Partial<Deployed> {
  switch (event.type) {
    case 'DeploymentPatched':
      return patched(state, event.data.source_config, event.version);
    case 'RevisionCreated':
      return created(state, event.data);
    case 'RevisionStatusChanged':
      return moved(state, event.data);
    case 'RevisionActivated':
      return activated(state, event.data, event.version);
    case 'DeploymentStopRequested':
      return { stopped: true, control: { action: 'stop', version: event.version } };
    case 'DeploymentStartRequested':
      return { stopped: false, control: { action: 'start', version: event.version } };
    case 'DeploymentRestartRequested':
      return { control: { action: 'restart', version: event.version } };
    case 'DeploymentDeletionRequested':
      return { deleting: true };
    case 'DeploymentDeleted':
      return { removed: true };
    default:
      return {};
  }
}

/** Sizes are those of the deployment: they hold for every revision of it that runs, or will. */
function patched(
  state: Deployed,
  source_config: (SourceConfigMessage & Sizes) | undefined,
  version: number,
): Partial<Deployed> {
  const config = { ...state.config, ...source_config };
  const resource_spec = source_config?.resource_spec;
  if (!resource_spec) return { config };
  const sized = <T extends RevisionCreatedMessage | null | undefined>(revision: T): T =>
    revision && { ...revision, resource_spec };
  const resized = (one: ActiveRevision | null) => one && { ...one, revision: sized(one.revision) };
  const [active, previous] = [resized(state.active), resized(state.previous)];
  return { config, active, previous, running: sized(state.running), queued: state.queued.map(sized), sized: version };
}

function created(state: Deployed, revision: RevisionCreatedMessage): Partial<Deployed> {
  const revisions = new Set(state.revisions).add(revision.revision_id);
  const latest = { revision_id: revision.revision_id, status: 'QUEUED' };
  return { revisions, queued: [...state.queued, revision], secrets: revision.secrets, latest };
}

const RUNNING = ['CREATING', 'AWAITING_BUILD', 'BUILDING', 'AWAITING_DEPLOY', 'DEPLOYING'];

/** True when a revision of this status is the running one of its deployment. */
export function isRunning(status: string): boolean {
  return RUNNING.includes(status);
}

function moved(
  state: Deployed,
  { revision_id: id, status, replaced_by: by }: RevisionStatusChangedMessage,
): Partial<Deployed> {
  const latest = state.latest?.revision_id === id ? { revision_id: id, status } : state.latest;
  if (status === 'UNKNOWN') return { latest };
  const waiting = state.queued.find((revision) => revision.revision_id === id);
  const queued = waiting ? state.queued.filter((revision) => revision !== waiting) : state.queued;
  if (isRunning(status)) return { queued, latest, running: waiting ?? state.running };
  const gone = waiting ?? (state.running?.revision_id === id ? state.running : undefined);
  const ended = gone && status !== 'SKIPPED' ? [...state.ended, gone].slice(-MOST_ENDED) : state.ended;
  const replaced = by === undefined ? state.replaced : { revision_id: id, by };
  return { queued, latest, running: gone && !waiting ? null : state.running, replaced, ended };
}

/** Deploying has started it, also when it was stopped before: it is stopped again. */
function activated(
  state: Deployed,
  { revision_id, executor }: RevisionActivatedMessage,
  version: number,
): Partial<Deployed> {
  const found = state.ended.find((ended) => ended.revision_id === revision_id);
  const revision = found ?? (state.previous?.revision_id === revision_id ? state.previous.revision : undefined);
  const control = state.stopped ? ({ action: 'stop', version } as const) : null;
  return { active: { revision_id, executor, revision }, previous: state.active, ended: [], control };
}

const ARTEFACTS: Readonly<Record<string, 'image_uri' | 'source_tarball_path'>> = {
  external_container: 'image_uri',
  internal_container: 'image_uri',
  internal_source: 'source_tarball_path',
};
const BUILT = ['codehost', 'internal_source', 'internal_template'];

/** True when a revision of the source is built before it is deployed. */
export function isBuilt(source: string): boolean {
  return BUILT.includes(source);
}

/** The member that should say what a revision runs and does not; undefined when it does. */
export function lackingArtefact({ source, source_revision_config }: RevisionCreatedMessage): string | undefined {
  const member = ARTEFACTS[source] ?? 'repo_ref';
  return source_revision_config[member] === undefined ? member : undefined;
}
