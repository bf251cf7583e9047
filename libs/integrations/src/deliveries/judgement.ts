import type { PushFollower } from '@fairlead/contracts';
import type { Push } from './delivery';

/** Outcome of a push. `waiting`: the code host is asked for the head of its branch. */
export const PUSH_STATUSES = ['waiting', 'done', 'ignored', 'set_aside'] as const;
export type PushStatus = (typeof PUSH_STATUSES)[number];

/** Outcome of a delivery: the one of its pushes, or `refused`. */
export const DELIVERY_STATUSES = [...PUSH_STATUSES, 'refused'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** A deployment of the repository of a push, and what was made of the push for it. */
export interface Outcome {
  readonly deployment_id: string;
  readonly name: string;
  /** The revision that was made; null before it is there, and where none is made. */
  readonly revision_id: string | null;
  /** Why it gets no revision; null when it gets one. */
  readonly reason: string | null;
}

export interface Judgement {
  readonly status: PushStatus;
  /** In a sentence without names of deployments, which the code host shows. */
  readonly reason: string | null;
  readonly deployments: readonly Outcome[];
}

const MOST_NAMED = 100;
const BRANCH = 'refs/heads/';

/** Returns what is made of a push, as far as that is known without asking the code host. */
export function judge(push: Push, followers: readonly PushFollower[]): Judgement {
  const deployments = followers.slice(0, MOST_NAMED).map((follower) => ({
    ...{ deployment_id: follower.deployment_id, name: follower.name, revision_id: null },
    reason:
      refusalOf(push, follower) ??
      (push.skipped ? 'the message of the newest commit says that it is not to be built' : null),
  }));
  const ignored = (reason: string): Judgement => ({ status: 'ignored', reason, deployments });
  if (followers.length === 0) return ignored('No deployment of the integration comes from this repository.');
  if (!push.ref.startsWith(BRANCH)) return ignored(`No deployment follows ${push.ref}: tags are not followed.`);
  const ofBranch = followers.filter((follower) => follows(push, follower));
  if (ofBranch.length === 0) return ignored(`No deployment follows ${push.ref} of this repository.`);
  if (!ofBranch.some(({ refusal }) => refusal === null)) {
    return ignored(`The deployments that follow ${push.ref} build no pushes now.`);
  }
  if (push.skipped) return ignored('The message of the newest commit says that it is not to be built.');
  return { status: 'waiting', reason: `The code host is asked for the head of ${push.ref}.`, deployments };
}

/** Returns the followers that a push is for, unless their path filters or commits say otherwise. */
export function chosen(push: Push, followers: readonly PushFollower[]): PushFollower[] {
  return push.skipped ? [] : followers.filter((follower) => refusalOf(push, follower) === null);
}

/** Returns the name of the branch of a push, without `refs/heads/`. */
export function branchOf({ ref }: Push): string {
  return ref.slice(BRANCH.length);
}

/** Why a deployment builds no such push, as the end of a sentence about it. */
function refusalOf(push: Push, follower: PushFollower): string | null {
  return follows(push, follower) ? follower.refusal : `follows ${follower.repo_ref ?? 'nothing'}`;
}

/** True when the `repo_ref` of a deployment, in full or in short, is the branch of a push. */
function follows({ ref }: Push, { repo_ref }: PushFollower): boolean {
  return ref.startsWith(BRANCH) && repo_ref !== null && (ref === repo_ref || ref === `${BRANCH}${repo_ref}`);
}
