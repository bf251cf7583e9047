import type { PushCause } from './connections';
import type { RevisionSource, SourceConfig } from './rollouts';

/**
 * Messages between services. A message is an event's data; its type is the event's type, its tenant and its stream come
 * with the delivery. Members may be added, never changed or removed.
 */

/** `DeploymentCreated`: from now on there is a deployment of this name. */
export interface DeploymentCreatedMessage {
  readonly deployment_id: string;
  readonly tenant_id: string;
  readonly name: string;
  readonly source: string;
  readonly source_config: SourceConfig;
  readonly source_revision_config: RevisionSource;
}

/** `DeploymentDeletionRequested`: the deployment is going away, and its tracing project with it when that was asked for. */
export interface DeploymentDeletionRequestedMessage {
  readonly name: string;
  readonly delete_tracing_project: boolean;
}

/** `DeploymentStatusReported`: the deployment cannot be reached, or nobody uses it, or neither any more. */
export interface DeploymentStatusReportedMessage {
  readonly status: 'AWAITING_DATABASE' | 'READY' | 'UNUSED' | 'UNKNOWN';
  readonly reason?: string;
  /** True while it is UNKNOWN because all its processes end again and again. */
  readonly crash_looping?: true;
}

/** `DeploymentDeleted`: it is gone, and its name is free again. */
export interface DeploymentDeletedMessage {
  readonly name: string;
}

/** `CommitResolved`: what `repo_ref` of a revision stood for when the code host was asked. */
export interface CommitResolvedMessage {
  readonly deployment_id: string;
  readonly revision_id: string;
  readonly repo_commit_sha: string;
}

/** `PushReceived`: a code host said, in a signed delivery, that a branch or tag of a repository has moved. */
export interface PushReceivedMessage {
  readonly integration_id: string;
  /** As the host spells it; another spelling of the same repository may be in a deployment. */
  readonly repo_url: string;
  /** In full: `refs/heads/main`. */
  readonly ref: string;
  /** The head of the branch, as the host answered after the delivery. */
  readonly repo_commit_sha: string;
  /** The deployments that the push is for; absent in events of earlier versions, which were for every follower. */
  readonly deployments?: readonly string[];
  /** Absent in events of earlier versions. */
  readonly cause?: PushCause;
}

/**
 * Finds the commit that a branch, tag or commit name stands for now, and fetches its files. The class is also its
 * injection token.
 */
export abstract class CommitResolver {
  /**
   * The full commit id. Takes at most about a minute.
   * @throws CodeHostUnreachable; Error with one sentence for the deployment's owner: unknown integration, repository or
   * ref, refused credentials.
   */
  abstract resolve(tenantId: string, integrationId: string, repoUrl: string, repoRef: string): Promise<string>;
  /** A gzip tarball of a commit, with one folder at its top. @throws as `resolve`, also while it is read */
  abstract archive(
    tenantId: string,
    integrationId: string,
    repoUrl: string,
    commit: string,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Buffer>>;
}

/** A commit as its host tells it; what the host does not tell is null. */
interface CommitOfHost {
  readonly sha: string;
  readonly author: string | null;
  /** First line of the message. */
  readonly subject: string | null;
}

/** Commits that are in one commit of a repository and not in another. */
export interface CommitsBetween {
  /** The newest first; a host tells a limited number. */
  readonly commits: readonly CommitOfHost[];
  /** True when there are more of them, or may be. */
  readonly more: boolean;
  /** The page of the host that compares the two. */
  readonly url: string;
}

/** Compares commits of a repository. The class is also its injection token. */
export abstract class CommitComparisons {
  /** The commits of `to` that `from` does not have; both are full commit ids. @throws as `CommitResolver` */
  abstract between(
    tenantId: string,
    integrationId: string,
    repoUrl: string,
    from: string,
    to: string,
  ): Promise<CommitsBetween>;
}

/** Finds out what a name in a repository stands for. The class is also its injection token. */
export abstract class RepositoryNames {
  /**
   * Returns true when a name is that of a tag and of no branch; false otherwise, and when the host does not answer within
   * a few seconds.
   */
  abstract isTag(tenantId: string, integrationId: string, repoUrl: string, name: string): Promise<boolean>;
}

/** The code host gives no answer now, and another attempt may succeed. The message is a sentence. */
export class CodeHostUnreachable extends Error {}
