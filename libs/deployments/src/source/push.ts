import { type Deployment, snapshotOf } from '../deployment/deployment';
import type { DeploymentEvent } from '../deployment/deployment-events';
import { createRevision } from '../revision/revision-turns';

/** A branch or tag of a repository that has moved to a commit. */
interface Push {
  readonly repo_url: string;
  /** In full: `refs/heads/main`. */
  readonly ref: string;
  readonly repo_commit_sha: string;
}

/**
 * A new revision of the pushed commit when the deployment builds pushes and the push moved the branch that it follows.
 * Nothing for any other push, and for a commit that the latest revision has already.
 */
export function buildPush(push: Push, revisionId: string): (state: Deployment) => DeploymentEvent[] {
  return (state) => {
    const { source_config, source_revision_config: current } = state;
    const builds = source_config.build_on_push === true && state.status !== 'AWAITING_DELETE';
    if (!builds || state.revision_source !== 'codehost' || !isSameRepository(source_config.repo_url, push.repo_url)) {
      return [];
    }
    if (!follows(current.repo_ref, push.ref) || current.repo_commit_sha === push.repo_commit_sha) return [];
    const source_revision_config = { ...current, repo_commit_sha: push.repo_commit_sha };
    const ids = { revision_id: revisionId, deployment_id: state.id };
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

/** Whether a deployment's `repo_ref`, in full or in short, is the branch of a push. */
function follows(repoRef: string | undefined, pushed: string): boolean {
  return repoRef !== undefined && (pushed === repoRef || pushed === `refs/heads/${repoRef}`);
}

/** Whether two addresses name one repository: hosts do not tell cases apart and take a `.git` at the end. */
function isSameRepository(a: string | undefined, b: string): boolean {
  return a !== undefined && plainUrl(a) === plainUrl(b);
}

function plainUrl(url: string): string {
  return url
    .toLowerCase()
    .replace(/\/+$/, '')
    .replace(/\.git$/, '');
}
