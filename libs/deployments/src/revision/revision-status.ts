import type { RevisionStatus } from '../deployment/deployment-events';

const RUNNING: readonly RevisionStatus[] = ['CREATING', 'AWAITING_BUILD', 'BUILDING', 'AWAITING_DEPLOY', 'DEPLOYING'];
const ENDED: readonly RevisionStatus[] = [
  'DEPLOYED',
  'CREATE_FAILED',
  'BUILD_FAILED',
  'DEPLOY_FAILED',
  'SKIPPED',
  'INTERRUPTED',
];

/** True when a revision of this status is being rolled out; at most one of a deployment is at a time. */
export function isRunning(status: RevisionStatus): boolean {
  return RUNNING.includes(status);
}

/** True when a revision of this status will never change again. */
export function hasEnded(status: RevisionStatus): boolean {
  return ENDED.includes(status);
}
