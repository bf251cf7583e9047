import type { RevisionSpec } from '@fairlead/contracts';
import { controlFailure, type Host } from '../rollout/host';
import { newestOf, previewed, runningOf, type Target } from '../rollout/target';

/** The next piece of work for one deployment. */
export type Task =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'remove' }
  /** Make sure that the executor can be reached. */
  | { readonly kind: 'prepare'; readonly mayRun: boolean }
  /** Stop, start or restart what runs. */
  | { readonly kind: 'control'; readonly version: number }
  /** Ask for a waiting revision to be the running one. */
  | { readonly kind: 'ask'; readonly revision: RevisionSpec }
  | { readonly kind: 'roll out'; readonly revision: RevisionSpec }
  /** Let a held revision answer at an address of its own. */
  | { readonly kind: 'preview'; readonly revision: RevisionSpec }
  /** Let what answered there end. */
  | { readonly kind: 'end preview' }
  /** Let the active revision run again in place of one that was not deployed. */
  | { readonly kind: 'restore'; readonly broken: RevisionSpec }
  /** Apply sizes that were changed without a revision. */
  | { readonly kind: 'resize' }
  /** See how the active revision runs, or the one that was left in its place, and nothing else. */
  | { readonly kind: 'observe'; readonly kept?: RevisionSpec };

const NOTHING: Task = { kind: 'nothing' };

/** Parts of a deployment that its executor can see to. */
export interface Kept {
  /** A revision that was not deployed and has left something behind that is to be replaced. */
  readonly broken?: RevisionSpec;
  /** The same, where it is to stay. */
  readonly kept?: RevisionSpec;
  /** True when the active revision is one of this executor, and nothing else has been put in its place. */
  readonly isActive: boolean;
  /** True when something of the deployment may run. That it can be reached does not mean that it runs as it should. */
  readonly mayRun: boolean;
}

/** The held revision of a deployment that its executor lets answer. */
export interface Answering {
  /** Id of the revision; absent when there is none. */
  readonly revisionId?: string;
}

/** An executor without upkeep sees to nothing. */
export const NONE: Kept = { isActive: false, mayRun: false };

/**
 * The next task, from what the deployment's stream says, what was last said about its host, and what the executor keeps.
 * `answering` is absent when the executor cannot let held revisions answer, or does not say whether one does.
 */
export function nextTask(
  target: Target,
  host: Host,
  { broken, kept, isActive, mayRun }: Kept = NONE,
  answering?: Answering,
): Task {
  if (!target || target.removed) return NOTHING;
  const { status, sized = 0, controlled = 0 } = host;
  if (target.deleting) return status === 'REMOVED' ? NOTHING : { kind: 'remove' };
  const held = answering && previewed(target);
  if (answering?.revisionId !== undefined && answering.revisionId !== held?.revision_id) return { kind: 'end preview' };
  const [running, newest] = [runningOf(target), newestOf(target)];
  const { control } = target;
  if (!running && control && control.version > controlled) return { kind: 'control', version: control.version };
  const isReady = status === 'READY' || status === 'UNUSED';
  const isPrepared = isReady || ((isActive || kept) && !running && !newest);
  // What did not stop stays UNKNOWN, although it can be reached.
  const isUndone = target.stopped === true && controlFailure(host, control) !== undefined;
  if (!isPrepared) return { kind: 'prepare', mayRun: mayRun || isUndone };
  if (running) return { kind: 'roll out', revision: running };
  if (newest) return { kind: 'ask', revision: newest };
  if (broken) return { kind: 'restore', broken };
  // What is stopped answers nowhere.
  if (held && answering?.revisionId === undefined && !target.stopped) return { kind: 'preview', revision: held };
  // Nobody looks at what is stopped: it is READY when its executor can be reached.
  if (target.stopped) return isReady || isUndone || kept ? NOTHING : { kind: 'prepare', mayRun: false };
  if (kept) return { kind: 'observe', kept };
  if (!isActive) return NOTHING;
  return { kind: target.sized > sized ? 'resize' : 'observe' };
}
