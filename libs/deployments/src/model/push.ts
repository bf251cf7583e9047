import { plainRepository, type PushCause } from '@fairlead/contracts';
import { type Deployment, snapshotOf } from './deployment';
import type { DeploymentEvent } from './deployment-events';
import { createRevision } from './revision-turns';

/** A branch or tag of a repository that has moved to a commit. */
interface Push {
  readonly repo_url: string;
  /** In full: `refs/heads/main`. */
  readonly ref: string;
  readonly repo_commit_sha: string;
  /** The deployments that it is for; absent in events of earlier versions. */
  readonly deployments?: readonly string[];
  readonly cause?: PushCause;
}

/**
 * A new revision of the pushed commit when the deployment builds pushes and the push moved the branch that it follows.
 * Nothing for any other push, for a commit that the latest revision has already, and for one that a roll-back skips.
 */
export function buildPush(push: Push, revisionId: string): (state: Deployment) => DeploymentEvent[] {
  return (state) => {
    const { source_config, source_revision_config: current } = state;
    const builds = source_config.build_on_push === true && state.status !== 'AWAITING_DELETE';
    if (!builds || state.revision_source !== 'codehost' || !isMeant(state, push)) return [];
    if (!follows(current.repo_ref, push.ref) || current.repo_commit_sha === push.repo_commit_sha) return [];
    if (state.skipped_commits?.includes(push.repo_commit_sha)) return [];
    const source_revision_config = { ...current, repo_commit_sha: push.repo_commit_sha };
    const ids = { revision_id: revisionId, deployment_id: state.id, ...(push.cause && { push: push.cause }) };
    return createRevision(state, { ...ids, ...snapshotOf(state), source_revision_config });
  };
}

/** Notes the commit that a revision stands for; saying the same of the latest or running one again changes nothing. */
export function resolveCommit(revisionId: string, sha: string): (state: Deployment) => DeploymentEvent[] {
  return ({ latest_revision_id, source_revision_config, running }) => {
    if (latest_revision_id === revisionId && source_revision_config.repo_commit_sha === sha) return [];
    if (running?.id === revisionId && running.commit === sha) return [];
    return [{ type: 'RevisionCommitResolved', data: { revision_id: revisionId, repo_commit_sha: sha } }];
  };
}

/** True when a deployment's `repo_ref`, in full or in short, is the branch of a push. */
function follows(repoRef: string | undefined, pushed: string): boolean {
  return repoRef !== undefined && (pushed === repoRef || pushed === `refs/heads/${repoRef}`);
}

/** Returns whether a push names the deployment or, as earlier versions do, its repository. */
function isMeant({ id, source_config: { repo_url } }: Deployment, { deployments, repo_url: pushed }: Push): boolean {
  if (deployments) return deployments.includes(id);
  return repo_url !== undefined && plainRepository(repo_url) === plainRepository(pushed);
}
