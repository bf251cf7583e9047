import type {
  CommitResolvedMessage,
  RolloutHeldMessage,
  RolloutStatus,
  RolloutStatusReportedMessage,
} from '@fairlead/contracts';
import type { DomainEvent, Model, Recorded } from '@fairlead/eventing';

/** An attempt begins, with the whole time limit before it. */
type RolloutStarted = DomainEvent<'RolloutStarted', { readonly deployment_id: string }>;
/** The executor cannot be reached; the attempt goes on when it can, within its time limit. */
type RolloutPaused = DomainEvent<'RolloutPaused', { readonly reason: string }>;
/** The service was stopped, or the revision was interrupted: the attempt does not count. */
type RolloutStopped = DomainEvent<'RolloutStopped', Record<string, never>>;
/** After a revision that was not deployed, the one before it runs again, or nothing does. `reason`: why that failed. */
type ActiveRevisionRestored = DomainEvent<
  'ActiveRevisionRestored',
  { readonly deployment_id: string; readonly revision_id: string | null; readonly reason?: string }
>;
type CommitResolved = DomainEvent<'CommitResolved', CommitResolvedMessage>;
type RolloutStatusReported = DomainEvent<'RolloutStatusReported', RolloutStatusReportedMessage>;
/** The revision is ready to be deployed and its gates hold it: the attempt has ended and does not count. */
type RolloutHeld = DomainEvent<'RolloutHeld', RolloutHeldMessage>;

/** Everything that can be in a stream `rollout-<revision id>`. */
export type RolloutEvent =
  | RolloutStarted
  | RolloutPaused
  | RolloutStopped
  | ActiveRevisionRestored
  | CommitResolved
  | RolloutStatusReported
  | RolloutHeld;

/** State of the rollout of one revision. */
export interface Rollout {
  /** Number of attempts that were not stopped. */
  readonly attempts: number;
  /** ISO 8601; when the last attempt began. */
  readonly startedAt: string | null;
  readonly paused: boolean;
  readonly commit: string | null;
  readonly status: RolloutStatus | null;
  /** Why it failed, or what it waits for. */
  readonly reason: string | null;
  /** Remains of the revision in the place where the deployment runs. `unsure` when they could not be replaced. */
  readonly left?: 'something' | 'nothing' | 'unsure';
  /** Present while nothing more is done until the gates of the revision let it through: the id of its deployment. */
  readonly held?: string;
}

const AGAIN = { paused: false, reason: null, held: undefined } as const;

/** Folds the stream of a rollout. */
export const rolloutModel: Model<Rollout, RolloutEvent> = {
  initial: { attempts: 0, startedAt: null, paused: false, commit: null, status: null, reason: null },
  evolve(state, event: Recorded<RolloutEvent>) {
    switch (event.type) {
      case 'RolloutStarted':
        return { ...state, ...AGAIN, attempts: state.attempts + 1, startedAt: event.time };
      case 'RolloutPaused':
        return { ...state, paused: true, reason: event.data.reason };
      case 'RolloutStopped':
        return { ...state, attempts: state.attempts - 1 };
      case 'RolloutHeld':
        return { ...state, paused: false, reason: null, attempts: state.attempts - 1, held: event.data.deployment_id };
      case 'CommitResolved':
        return { ...state, commit: event.data.repo_commit_sha };
      case 'RolloutStatusReported':
        return {
          ...{ ...state, paused: false, status: event.data.status, reason: event.data.reason ?? null },
          ...(event.data.status === 'DEPLOYING' && { left: 'something' as const }),
        };
      case 'ActiveRevisionRestored':
        return { ...state, left: event.data.reason === undefined ? 'nothing' : 'unsure' };
      default:
        return state;
    }
  },
};

const FINAL: readonly (RolloutStatus | null)[] = ['DEPLOYED', 'BUILD_FAILED', 'DEPLOY_FAILED'];

/** True when nothing more will be done for the revision. */
export function hasFinished({ status }: Rollout): boolean {
  return FINAL.includes(status);
}

/** Begins an attempt, or goes on with one that was paused. */
export function startAttempt(deploymentId: string): (state: Rollout) => RolloutEvent[] {
  return (state) => {
    if (hasFinished(state) || state.paused) return [];
    return [{ type: 'RolloutStarted', data: { deployment_id: deploymentId } }];
  };
}

/** Notes once that the attempt waits for its executor. */
export function pause(reason: string): (state: Rollout) => RolloutEvent[] {
  return (state) => (hasFinished(state) || state.paused ? [] : [{ type: 'RolloutPaused', data: { reason } }]);
}

/** Notes that the attempt was broken off through no fault of the revision. */
export function stop(state: Rollout): RolloutEvent[] {
  return hasFinished(state) || state.attempts === 0 ? [] : [{ type: 'RolloutStopped', data: {} }];
}

/** Notes once that the gates of the revision hold it. */
export function holdBack(held: RolloutHeldMessage): (state: Rollout) => RolloutEvent[] {
  return (state) => (hasFinished(state) || state.held ? [] : [{ type: 'RolloutHeld', data: held }]);
}

/** Says which commit the revision stands for; only the first word counts. */
export function resolveCommit(found: CommitResolvedMessage): (state: Rollout) => RolloutEvent[] {
  return ({ commit }) => (commit === null ? [{ type: 'CommitResolved', data: found }] : []);
}

/** Says how far the revision has come; what was said last is not repeated, and nothing follows a final status. */
export function report(said: RolloutStatusReportedMessage): (state: Rollout) => RolloutEvent[] {
  return (state) => {
    if (hasFinished(state) || state.status === said.status) return [];
    const commit = said.status === 'DEPLOYED' && state.commit !== null && { repo_commit_sha: state.commit };
    return [{ type: 'RolloutStatusReported', data: { ...said, ...commit } }];
  };
}

/** Notes once that what the revision has left behind has been replaced by the active one, or why it could not be. */
export function restored(
  deployment_id: string,
  revision_id: string | null,
  reason?: string,
): (state: Rollout) => RolloutEvent[] {
  return ({ left }) => {
    if (left !== 'something') return [];
    return [{ type: 'ActiveRevisionRestored', data: { deployment_id, revision_id, ...(reason && { reason }) } }];
  };
}
