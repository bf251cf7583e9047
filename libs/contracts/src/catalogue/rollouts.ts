import type { CommitResolvedMessage } from '../ports/deployments';
import type {
  CommandEndedMessage,
  CommandStartedMessage,
  HostStatusReportedMessage,
  RevisionTakenBackMessage,
  RolloutHeldMessage,
  RolloutStatusReportedMessage,
} from '../ports/rollouts';
import { COUNT, ID, members, TEXT } from './payload';
import type { Row } from './row';

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
  RolloutHeld: {
    schema: 1,
    operation: 'update_revision',
    topic: 'internal.v1',
    facts: ({ deployment_id, revision_id, gates }: RolloutHeldMessage) => ({ deployment_id, revision_id, gates }),
  },
  HostStatusReported: {
    schema: 1,
    operation: 'update_deployment',
    topic: 'internal.v1',
    facts: ({ deployment_id, status, reason, crash_looping }: HostStatusReportedMessage) => ({
      deployment_id,
      status,
      ...(reason !== undefined && { reason }),
      ...(crash_looping && { crash_looping }),
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
  CommandStarted: {
    schema: 1,
    operation: 'run_command',
    topic: 'deployments.v1',
    webhook: 'deployment.command_started',
    title: 'A command begins to run beside the program of a deployment.',
    // Its words are not told: they may hold what nobody else should know.
    facts: ({ deployment_id, command_id, revision_id }: CommandStartedMessage) => ({
      deployment_id,
      command_id,
      revision_id,
    }),
    payload: members({ deployment_id: ID, command_id: ID, revision_id: ID }),
  },
  CommandEnded: {
    schema: 1,
    operation: 'end_command',
    topic: 'deployments.v1',
    webhook: 'deployment.command_ended',
    title: 'A command beside the program of a deployment has ended.',
    facts: ({ deployment_id, command_id, exit_code, reason, duration_ms }: CommandEndedMessage) => ({
      deployment_id,
      command_id,
      exit_code,
      ...(reason !== undefined && { reason }),
      duration_ms,
    }),
    payload: members(
      { deployment_id: ID, command_id: ID, exit_code: { type: ['integer', 'null'] }, duration_ms: COUNT },
      { reason: TEXT },
    ),
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
