import type { HostStatusReportedMessage, RevisionTakenBackMessage } from '@fairlead/contracts';
import { type DomainEvent, type Model, type Recorded, same } from '@fairlead/eventing';

type HostStatusReported = DomainEvent<'HostStatusReported', HostStatusReportedMessage>;
/** Where the executor runs the deployment from now on, in the executor's words: a namespace of a cluster. */
type DeploymentPlaced = DomainEvent<'DeploymentPlaced', { readonly deployment_id: string; readonly place: string }>;
/** The sizes that the deployment's stream has up to this version are those that run. */
type DeploymentResized = DomainEvent<
  'DeploymentResized',
  { readonly deployment_id: string; readonly version: number; readonly reason?: string }
>;
/** Somebody else has changed what runs. */
type DeploymentDrifted = DomainEvent<
  'DeploymentDrifted',
  { readonly deployment_id: string; readonly revision_id: string; readonly differences: readonly string[] }
>;
/**
 * The actions that the deployment's stream asks for up to this version were carried out. Events that earlier releases
 * of Fairlead recorded can also mean that they could not be.
 */
type ControlCarriedOut = DomainEvent<'ControlCarriedOut', { readonly deployment_id: string; readonly version: number }>;
/** The actions that the deployment's stream asks for up to this version could not be carried out. */
type ControlFailed = DomainEvent<
  'ControlFailed',
  { readonly deployment_id: string; readonly version: number; readonly reason: string }
>;

type RevisionTakenBack = DomainEvent<'RevisionTakenBack', RevisionTakenBackMessage>;

/** Everything that can be in a stream `host-<deployment id>`. */
export type HostEvent =
  | HostStatusReported
  | DeploymentPlaced
  | DeploymentResized
  | DeploymentDrifted
  | ControlCarriedOut
  | ControlFailed
  | RevisionTakenBack;

/** Last report about the place where a deployment runs. */
export interface Host {
  readonly status: HostStatusReportedMessage['status'] | null;
  /** Why it is UNKNOWN or UNUSED. */
  readonly reason?: string;
  readonly isCrashLooping?: boolean;
  /** ISO 8601; when that was said. */
  readonly saidAt?: string;
  readonly place?: string;
  /** The version of the deployment's stream whose sizes run. */
  readonly sized?: number;
  /** The version of the deployment's stream up to which what it asks for is done, or could not be done. */
  readonly controlled?: number;
  /** Why what it asked for last could not be done. */
  readonly failure?: string;
  /** The last revision that the one before it has taken its place back from, and why. */
  readonly takenBack?: { readonly revision_id: string; readonly reason: string };
  /** Absent once the place has been READY again. */
  readonly drift?: readonly string[];
}

/** Folds the stream of a host into what was last said. */
export const hostModel: Model<Host, HostEvent> = {
  initial: { status: null },
  evolve(state, event: Recorded<HostEvent>) {
    switch (event.type) {
      case 'HostStatusReported': {
        const { status, reason, crash_looping } = event.data;
        const drift = status === 'READY' ? undefined : state.drift;
        return { ...state, status, reason, isCrashLooping: crash_looping, saidAt: event.time, drift };
      }
      case 'DeploymentPlaced':
        return { ...state, place: event.data.place };
      case 'DeploymentResized':
        return { ...state, sized: event.data.version };
      case 'ControlCarriedOut':
        return { ...state, controlled: event.data.version, failure: undefined };
      case 'ControlFailed':
        return { ...state, controlled: event.data.version, failure: event.data.reason };
      case 'RevisionTakenBack':
        return { ...state, takenBack: { revision_id: event.data.revision_id, reason: event.data.reason } };
      case 'DeploymentDrifted':
        return { ...state, drift: event.data.differences };
      default:
        return state;
    }
  },
};

/** Shortest time between two reports of the same status with different reasons (ms): some reasons alternate. */
const ANOTHER_REASON_MS = 10 * 60_000;

/**
 * Says whether the place is ready. The same status again says nothing, unless what had changed is as it was again, or
 * the reason has been another one for a while. A crash loop is said once, whatever is counted meanwhile. `now` is in
 * milliseconds.
 */
export function reportHost(said: HostStatusReportedMessage, now: number): (state: Host) => HostEvent[] {
  return ({ status, reason, isCrashLooping = false, saidAt = '', drift }) => {
    const isUndone = said.status === 'READY' && drift !== undefined;
    const begins = said.crash_looping === true && !isCrashLooping;
    const isOther = said.reason !== reason && !(said.crash_looping && isCrashLooping);
    const hasOtherReason = isOther && now - Date.parse(saidAt) >= ANOTHER_REASON_MS;
    if (status === 'REMOVED' || (status === said.status && !isUndone && !begins && !hasOtherReason)) return [];
    return [{ type: 'HostStatusReported', data: said }];
  };
}

/** Notes once that a revision has lost its place to the one before it. */
export function noteTakenBack(taken: RevisionTakenBackMessage): (state: Host) => HostEvent[] {
  return ({ takenBack }) =>
    takenBack?.revision_id === taken.revision_id ? [] : [{ type: 'RevisionTakenBack', data: taken }];
}

/** Notes once where the deployment runs. */
export function placeDeployment(deployment_id: string, place: string): (state: Host) => HostEvent[] {
  return (state) => (state.place === undefined ? [{ type: 'DeploymentPlaced', data: { deployment_id, place } }] : []);
}

/** Notes which sizes run, or why they do not. */
export function noteSizes(deployment_id: string, version: number, reason?: string): (state: Host) => HostEvent[] {
  return ({ sized = 0 }) =>
    sized >= version
      ? []
      : [{ type: 'DeploymentResized', data: { deployment_id, version, ...(reason && { reason }) } }];
}

/** Notes that what the deployment's stream asks for up to a version is done, or why it could not be done. */
export function noteControl(deployment_id: string, version: number, reason?: string): (state: Host) => HostEvent[] {
  return ({ controlled = 0 }) => {
    if (controlled >= version) return [];
    if (reason === undefined) return [{ type: 'ControlCarriedOut', data: { deployment_id, version } }];
    return [{ type: 'ControlFailed', data: { deployment_id, version, reason } }];
  };
}

/** Why what the deployment asked for last could not be done; undefined when it could, or is still to be done. */
export function controlFailure({ controlled, failure }: Host, control: { readonly version: number } | null) {
  return control?.version === controlled ? failure : undefined;
}

/** Says how what runs differs from the revision; the same differences again say nothing. */
export function reportDrift(
  deployment_id: string,
  revision_id: string,
  differences: readonly string[],
): (state: Host) => HostEvent[] {
  return ({ drift = [] }) =>
    differences.length === 0 || same(drift, differences)
      ? []
      : [{ type: 'DeploymentDrifted', data: { deployment_id, revision_id, differences } }];
}
