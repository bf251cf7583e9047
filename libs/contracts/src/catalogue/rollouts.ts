import type { CommitResolvedMessage } from '..';
import type { HostStatusReportedMessage, RevisionTakenBackMessage, RolloutStatusReportedMessage } from '../rollouts';
import type { Row } from './row';

/** Events of rollouts, and of the places where deployments run. */
export const rolloutEvents = {
  RolloutStatusReported: {
    schema: 1,
    operation: 'update_revision',
    topic: 'internal.v1',
    facts: ({ deployment_id, revision_id, status, ...more }: RolloutStatusReportedMessage) => ({
      deployment_id,
      revision_id,
      status,
      ...(more.reason !== undefined && { reason: more.reason }),
      ...(more.executor !== undefined && { executor: more.executor }),
      ...(more.repo_commit_sha !== undefined && { repo_commit_sha: more.repo_commit_sha }),
    }),
  },
  HostStatusReported: {
    schema: 1,
    operation: 'update_deployment',
    topic: 'internal.v1',
    facts: ({ deployment_id, status, reason }: HostStatusReportedMessage) => ({
      deployment_id,
      status,
      ...(reason !== undefined && { reason }),
    }),
  },
  RevisionTakenBack: {
    schema: 1,
    operation: 'update_revision',
    topic: 'internal.v1',
    facts: ({ deployment_id, revision_id, active_revision_id, reason }: RevisionTakenBackMessage) => ({
      deployment_id,
      revision_id,
      active_revision_id,
      reason,
    }),
  },
  CommitResolved: {
    schema: 1,
    operation: 'update_revision',
    topic: 'internal.v1',
    facts: ({ deployment_id, revision_id, repo_commit_sha }: CommitResolvedMessage) => ({
      deployment_id,
      revision_id,
      repo_commit_sha,
    }),
  },
  ControlCarriedOut: { schema: 1, operation: 'control_carried_out' },
  ControlFailed: { schema: 1, operation: 'control_failed' },
  RolloutStarted: { schema: 1, operation: 'rollout_started' },
  RolloutPaused: { schema: 1, operation: 'rollout_paused' },
  DeploymentPlaced: { schema: 1, operation: 'deployment_placed' },
  DeploymentResized: { schema: 1, operation: 'deployment_resized' },
  DeploymentDrifted: { schema: 1, operation: 'deployment_drifted' },
  ActiveRevisionRestored: { schema: 1, operation: 'active_revision_restored' },
  RolloutStopped: { schema: 1, operation: 'rollout_stopped' },
} as const satisfies Readonly<Record<string, Row>>;
