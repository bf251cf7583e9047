import { isBuilt, type RevisionStatus, type Turns } from '@fairlead/contracts';
import type { Deployment } from './deployment';
import type { DeploymentEvent } from './deployment-events';

/** Replacements in a row after which the next revision waits, so that pushes cannot keep a deployment from being ready. */
const MOST_REPLACED = 3;

/** A new revision, which takes the place of the running one when that is not ready yet. */
export function createRevision(
  state: Deployment,
  data: (DeploymentEvent & { type: 'RevisionCreated' })['data'],
): DeploymentEvent[] {
  const queued = [...state.queued, { id: data.revision_id, source: data.source }];
  return [{ type: 'RevisionCreated', data }, ...replaceRunning({ ...state, queued })];
}

/** Ends the running revision while it is DEPLOYING and a newer one waits, which then runs. */
export function replaceRunning({
  queued,
  running,
  replaced = 0,
}: Omit<Turns, 'removed' | `${string}_id`>): DeploymentEvent[] {
  const newest = queued.at(-1);
  if (!newest || running?.status !== 'DEPLOYING' || replaced >= MOST_REPLACED) return [];
  const data = { revision_id: running.id, previous_status: running.status, status: 'INTERRUPTED' as const };
  return [{ type: 'RevisionStatusChanged', data: { ...data, replaced_by: newest.id } }, ...runNewest({ queued })];
}

/** Lets the newest that waits run, when the running one has ended; the older ones are skipped. */
export function runNewest({ queued }: Pick<Turns, 'queued'>): DeploymentEvent[] {
  const newest = queued.at(-1);
  if (!newest) return [];
  const skipped = queued.slice(0, -1).map(({ id }) => moved(id, 'QUEUED', 'SKIPPED'));
  return [...skipped, moved(newest.id, 'QUEUED', isBuilt(newest.source) ? 'AWAITING_BUILD' : 'AWAITING_DEPLOY')];
}

export function moved(revision_id: string, previous_status: RevisionStatus, status: RevisionStatus): DeploymentEvent {
  return { type: 'RevisionStatusChanged', data: { revision_id, previous_status, status } };
}
