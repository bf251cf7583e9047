import type { RevisionCreatedMessage } from '@fairlead/contracts';
import type { Host } from './executors/host';
import type { Target } from './executors/target';

/** What is to be done next for one deployment. */
export type Task =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'remove' }
  | { readonly kind: 'prepare' }
  /** Ask for a waiting revision to be the running one. */
  | { readonly kind: 'ask'; readonly revision: RevisionCreatedMessage }
  | { readonly kind: 'roll out'; readonly revision: RevisionCreatedMessage }
  /** Let the active revision run again in place of one that was not deployed. */
  | { readonly kind: 'restore'; readonly broken: RevisionCreatedMessage };

const NOTHING: Task = { kind: 'nothing' };

/**
 * The next task, from what the deployment's stream says, what was last said about its host, and the revision that left
 * something behind.
 */
export function nextTask(target: Target, host: Host, broken?: RevisionCreatedMessage): Task {
  if (!target || target.removed) return NOTHING;
  if (target.deleting) return host === 'REMOVED' ? NOTHING : { kind: 'remove' };
  if (host !== 'READY') return { kind: 'prepare' };
  if (target.running) return { kind: 'roll out', revision: target.running };
  const newest = target.queued.at(-1);
  if (newest) return { kind: 'ask', revision: newest };
  return broken ? { kind: 'restore', broken } : NOTHING;
}
