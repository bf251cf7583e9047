import { isBuilt, type RevisionStatus, type Turns } from '@fairlead/contracts';
import type { Deployment } from './deployment';
import type { DeploymentEvent } from './deployment-events';

/** Replacements in a row after which the next revision waits, so that pushes cannot keep a deployment from being ready. */
const MOST_REPLACED = 3;

/**
 * A new revision with the gates that hold now, unless it is free of them. It takes the place of the running one when that
 * is not ready yet, and of the held one.
 */
export function createRevision(
  state: Deployment,
  data: (DeploymentEvent & { type: 'RevisionCreated' })['data'],
  isFree = false,
): DeploymentEvent[] {
  const { revision_id: id, source } = data;
  const gates = isFree ? undefined : state.gates;
  const queued = [...state.queued, { id, source }];
  return [
    { type: 'RevisionCreated', data: { ...data, ...(gates && { gates }) } },
    ...replaceHeld(state, id),
    ...replaceRunning({ ...state, queued }),
  ];
}

/** Ends the revision that waits for evidence, because there is a newer one. */
export function replaceHeld({ held }: Pick<Turns, 'held'>, newer: string): DeploymentEvent[] {
  if (!held) return [];
  const data = { revision_id: held.id, previous_status: 'AWAITING_DEPLOY', status: 'SKIPPED' } as const;
  const reason = `The newer revision ${newer} took its place while it was held by its gates.`;
  return [{ type: 'RevisionStatusChanged', data: { ...data, reason } }];
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
