import type { RevisionHeldMessage, RevisionReleasedMessage } from './gates';
import type {
  RevisionActivatedMessage,
  RevisionCreatedMessage,
  RevisionStatus,
  RevisionStatusChangedMessage,
} from './rollouts';

const RUNNING: readonly RevisionStatus[] = ['CREATING', 'AWAITING_BUILD', 'BUILDING', 'AWAITING_DEPLOY', 'DEPLOYING'];
const ENDED: readonly RevisionStatus[] = [
  ...(['DEPLOYED', 'CREATE_FAILED', 'BUILD_FAILED', 'DEPLOY_FAILED', 'SKIPPED', 'INTERRUPTED'] as const),
];

/** True when a revision of this status is being rolled out; at most one of a deployment is at a time. */
export function isRunning(status: RevisionStatus): boolean {
  return RUNNING.includes(status);
}

/** True when a revision of this status will never change again. */
export function hasEnded(status: RevisionStatus): boolean {
  return ENDED.includes(status);
}

/** True when a revision of the source is built before it is deployed. */
export function isBuilt(source: string): boolean {
  return ['codehost', 'internal_source', 'internal_template'].includes(source);
}

/** The member that says what a revision of the source runs. */
export function artefactOf(source: string): 'image_uri' | 'source_tarball_path' | 'repo_ref' {
  if (source === 'external_container' || source === 'internal_container') return 'image_uri';
  return source === 'internal_source' ? 'source_tarball_path' : 'repo_ref';
}

interface Waiting {
  readonly id: string;
  readonly source: string;
  /** Present when it has gates. */
  readonly gated?: true;
}

interface Running {
  readonly id: string;
  readonly status: RevisionStatus;
  readonly commit?: string;
  /** Present while its gates have to be asked before it is deployed. */
  readonly gated?: true;
}

/** The part of a deployment's state that deployments and rollouts share: whose turn it is, and what runs. */
export interface Turns {
  /** Revisions that wait, oldest first. */
  readonly queued: readonly Waiting[];
  /** The only revision that may be worked on. */
  readonly running: Running | null;
  /** The revision that is ready to be deployed and waits for evidence; it does not keep newer ones from running. */
  readonly held?: { readonly id: string; readonly until: string };
  /** Revisions in a row that newer ones have replaced before they were ready. */
  readonly replaced?: number;
  readonly latest_revision_id: string | null;
  readonly active_revision_id: string | null;
  /** Name of the executor that deployed the active revision; absent when an earlier version deployed it. */
  readonly executor?: string;
  /** Present while somebody has stopped it. */
  readonly stopped?: true;
  readonly removed: boolean;
}

/** Turns of a deployment without revisions. */
export const NO_TURNS: Turns = {
  latest_revision_id: null,
  active_revision_id: null,
  queued: [],
  running: null,
  removed: false,
};

interface Event<Type extends string, Data> {
  readonly type: Type;
  readonly data: Data;
}

/** Events of a deployment's stream that change its turns; all others change nothing of them. */
type TurnEvent =
  | Event<'RevisionCreated', RevisionCreatedMessage>
  | Event<'RevisionStatusChanged', RevisionStatusChangedMessage>
  | Event<'RevisionActivated', RevisionActivatedMessage>
  | Event<'RevisionHeld', RevisionHeldMessage>
  | Event<'RevisionReleased', RevisionReleasedMessage>
  | Event<'RevisionCommitResolved', { readonly revision_id: string; readonly repo_commit_sha: string }>
  | Event<'DeploymentStopRequested' | 'DeploymentStartRequested' | 'DeploymentDeleted', unknown>;

/** Returns the members of the turns that an event of the deployment's stream changes. */
export function turned(state: Turns, { type, data }: Event<string, unknown>): Partial<Turns> {
  const event = { type, data } as TurnEvent;
  switch (event.type) {
    case 'RevisionCreated': {
      const { revision_id: id, source, gates } = event.data;
      return { latest_revision_id: id, queued: [...state.queued, { id, source, ...(gates && { gated: true }) }] };
    }
    case 'RevisionHeld':
      return { running: null, held: { id: event.data.revision_id, until: event.data.until } };
    case 'RevisionReleased':
      return released(state, event.data.revision_id);
    case 'RevisionStatusChanged':
      return moved(state, event.data);
    case 'RevisionActivated':
      return { active_revision_id: event.data.revision_id, executor: event.data.executor };
    case 'RevisionCommitResolved': {
      const { running } = state;
      if (running?.id !== event.data.revision_id) return {};
      return { running: { ...running, commit: event.data.repo_commit_sha } };
    }
    case 'DeploymentStopRequested':
      return { stopped: true };
    case 'DeploymentStartRequested':
      return { stopped: undefined };
    case 'DeploymentDeleted':
      return { removed: true };
    default:
      return {};
  }
}

/** Its gates are not asked any more; when it was held, it runs. */
function released({ queued, running, held }: Turns, id: string): Partial<Turns> {
  if (held?.id === id) return { held: undefined, running: { id, status: 'AWAITING_DEPLOY' } };
  return {
    queued: queued.map((one) => (one.id === id ? { ...one, gated: undefined } : one)),
    running: running?.id === id ? { ...running, gated: undefined } : running,
  };
}

function moved(
  { queued: before, running, held, replaced = 0 }: Turns,
  { revision_id: id, status, replaced_by }: RevisionStatusChangedMessage,
): Partial<Turns> {
  if (held?.id === id && hasEnded(status)) return { held: undefined };
  const waiting = before.find((one) => one.id === id);
  const queued = waiting ? before.filter((one) => one.id !== id) : before;
  if (isRunning(status)) {
    const known = running?.id === id ? running : waiting?.gated && { gated: true as const };
    return { queued, running: { ...known, id, status } };
  }
  if (running?.id !== id || !hasEnded(status)) return { queued };
  return { queued, running: null, replaced: replaced_by === undefined ? undefined : replaced + 1 };
}
