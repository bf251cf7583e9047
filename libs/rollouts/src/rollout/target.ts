import {
  artefactOf,
  type ControlAction,
  type DeploymentCreatedMessage,
  type DeploymentPatchedMessage,
  type Gate,
  hasEnded,
  NO_TURNS,
  previewOf,
  type RevisionActivatedMessage,
  type RevisionCreatedMessage,
  type RevisionHeldMessage,
  type RevisionReleasedMessage,
  type RevisionSpec,
  type RevisionStatus,
  type RevisionStatusChangedMessage,
  type SealedSecret,
  type SourceConfig,
  turned,
  type Turns,
} from '@fairlead/contracts';
import type { DomainEvent, Model, Recorded } from '@fairlead/eventing';

/** A deployment's events as far as rollouts understand them; all others pass by. */
export type TargetEvent =
  | DomainEvent<
      'DeploymentCreated',
      DeploymentCreatedMessage & {
        readonly source_config: SourceConfig;
        readonly secrets: readonly SealedSecret[];
      }
    >
  | DomainEvent<'DeploymentPatched', DeploymentPatchedMessage & { readonly source_config?: Sizes }>
  | DomainEvent<'RevisionCreated', RevisionCreatedMessage>
  | DomainEvent<'RevisionStatusChanged', RevisionStatusChangedMessage>
  | DomainEvent<'RevisionActivated', RevisionActivatedMessage>
  | DomainEvent<'RevisionHeld', RevisionHeldMessage>
  | DomainEvent<'RevisionReleased', RevisionReleasedMessage>
  | DomainEvent<'GatesDeclared', { readonly gates: readonly Gate[] }>
  | DomainEvent<'TracingProjectNamed', { readonly name: string }>
  | DomainEvent<'DeploymentStopRequested' | 'DeploymentStartRequested' | 'DeploymentRestartRequested', unknown>
  | DomainEvent<'DeploymentDeletionRequested' | 'DeploymentDeleted', unknown>;

interface Sizes {
  readonly resource_spec?: RevisionSpec['resource_spec'];
}

/** A deployment as something to roll revisions out to: its turns, and what its revisions run with. */
export interface Deployed extends Turns {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly config: SourceConfig;
  /** Secrets of the newest revision, or of the deployment while it has none. */
  readonly secrets: readonly SealedSecret[];
  /** Name of its tracing project. */
  readonly project: string;
  /** Ids of all revisions there ever were. */
  readonly revisions: ReadonlySet<string>;
  /** The revisions that wait, run, are active, were active before, or have ended. */
  readonly specs: ReadonlyMap<string, RevisionSpec>;
  /** Status of the newest revision; null while there is none. */
  readonly latestStatus: RevisionStatus | null;
  /** Why the newest revision was refused or has ended; absent where its rollout tells it. */
  readonly latestReason?: string;
  /** The revision that was active before the active one. */
  readonly previous_revision_id: string | null;
  /** The last revision that a newer one has replaced before it was ready. */
  readonly replacement: { readonly revision_id: string; readonly by: string } | null;
  /**
   * Ids of revisions that have ended since the active one was activated, oldest first, or the last of them: they may
   * have left something behind.
   */
  readonly ended: readonly string[];
  /** True when gates hold its next revisions. */
  readonly gated: boolean;
  /** True once it has had a revision that may answer while its gates hold it. */
  readonly hadPreviews: boolean;
  /** The version of the stream in which its sizes were last changed without a revision; 0: never. */
  readonly sized: number;
  /**
   * The last action that is to be carried out on the running program, and the version of the stream that asks for it.
   */
  readonly control: { readonly action: ControlAction; readonly version: number } | null;
  readonly deleting: boolean;
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
      return {
        ...{ ...NO_TURNS, id, tenantId, name, project: name, config, secrets },
        ...{ revisions: new Set(), specs: new Map(), ended: [] },
        ...{ latestStatus: null, previous_revision_id: null, replacement: null, control: null },
        ...{ gated: false, hadPreviews: false, sized: 0, deleting: false },
      };
    }
    return state && { ...state, ...turned(state, event), ...change(state, event) };
  },
};

/** The members that an event changes and that only rollouts have. */
function change(
  state: Deployed,
  event: Recorded<Exclude<TargetEvent, { type: 'DeploymentCreated' }>>,
): Partial<Deployed> {
  const { version } = event;
  switch (event.type) {
    case 'DeploymentPatched':
      return patched(state, event.data.source_config, version);
    case 'RevisionCreated': {
      const { revision_id: id, secrets, gates } = event.data;
      const [revisions, specs] = [new Set(state.revisions).add(id), new Map(state.specs).set(id, event.data)];
      const hadPreviews = state.hadPreviews || (gates !== undefined && previewOf(gates) !== undefined);
      return { revisions, specs, secrets, hadPreviews, latestStatus: 'QUEUED', latestReason: undefined };
    }
    case 'RevisionStatusChanged':
      return moved(state, event.data);
    case 'RevisionActivated':
      return activated(state, event.data, version);
    case 'GatesDeclared':
      return { gated: event.data.gates.length > 0 };
    case 'TracingProjectNamed':
      return { project: event.data.name };
    case 'DeploymentStopRequested':
      return { control: { action: 'stop', version } };
    case 'DeploymentStartRequested':
      return { control: { action: 'start', version } };
    case 'DeploymentRestartRequested':
      return { control: { action: 'restart', version } };
    case 'DeploymentDeletionRequested':
      return { deleting: true };
    default:
      return {};
  }
}

/** Sizes are those of the deployment: they hold for every revision of it that runs, or will. */
function patched(
  state: Deployed,
  source_config: (SourceConfig & Sizes) | undefined,
  version: number,
): Partial<Deployed> {
  const config = { ...state.config, ...source_config };
  const resource_spec = source_config?.resource_spec;
  if (!resource_spec) return { config };
  const specs = new Map(state.specs);
  for (const [id, spec] of specs) if (!state.ended.includes(id)) specs.set(id, { ...spec, resource_spec });
  return { config, specs, sized: version };
}

function moved(
  { queued, running, held, ...state }: Deployed,
  { revision_id: id, status, replaced_by: by, reason }: RevisionStatusChangedMessage,
): Partial<Deployed> {
  const told = state.latest_revision_id === id ? { latestStatus: status, latestReason: reason } : {};
  const isKnown = [running, held, ...queued].some((one) => one?.id === id);
  if (!isKnown || !hasEnded(status)) return told;
  const replacement = by === undefined ? state.replacement : { revision_id: id, by };
  const ended = status === 'SKIPPED' ? state.ended : [...state.ended, id].slice(-MOST_ENDED);
  const gone = [id, ...state.ended].filter((other) => !ended.includes(other));
  return { ...told, replacement, ended, specs: without(state, gone) };
}

/** Deploying has started it, also when it was stopped before: it is stopped again. */
function activated(state: Deployed, { revision_id }: RevisionActivatedMessage, version: number): Partial<Deployed> {
  const { active_revision_id: previous_revision_id, previous_revision_id: before, ended } = state;
  const gone = [...ended, before ?? ''].filter((id) => id !== revision_id && id !== previous_revision_id);
  const control = state.stopped ? ({ action: 'stop', version } as const) : null;
  return { previous_revision_id, ended: [], control, specs: without(state, gone) };
}

function without({ specs }: Pick<Deployed, 'specs'>, ids: readonly string[]): Deployed['specs'] {
  return new Map([...specs].filter(([id]) => !ids.includes(id)));
}

/** The active revision; undefined before there is one. */
export function activeOf({ specs, active_revision_id }: Deployed): RevisionSpec | undefined {
  return specs.get(active_revision_id ?? '');
}

/** The only revision that may be worked on. */
export function runningOf({ specs, running }: Deployed): RevisionSpec | undefined {
  return specs.get(running?.id ?? '');
}

/** The newest revision that waits. */
export function newestOf({ specs, queued }: Deployed): RevisionSpec | undefined {
  return specs.get(queued.at(-1)?.id ?? '');
}

/** The revision that is held and is to answer at an address of its own; undefined when there is none. */
export function previewed({ specs, held, deleting, removed }: Deployed): RevisionSpec | undefined {
  const spec = specs.get(held?.id ?? '');
  return deleting || removed || !previewOf(spec?.gates) ? undefined : spec;
}

/** The secrets that it has there. */
export function previewSecrets({ gates, secrets }: RevisionSpec): readonly SealedSecret[] {
  return previewOf(gates)?.secrets ? secrets : [];
}

/** Name of the tracing project of a held revision: its runs are not those of the deployment. */
export function previewProject(project: string, revisionId: string): string {
  return `${project}@${revisionId}`;
}

/** The member that should say what a revision runs and does not; undefined when it does. */
export function lackingArtefact({ source, source_revision_config }: RevisionSpec): string | undefined {
  const member = artefactOf(source);
  return source_revision_config[member] === undefined ? member : undefined;
}
