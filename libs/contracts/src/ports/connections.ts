/** Messages of integrations and OAuth providers. Their streams are `integration-<id>` and `oauthProvider-<id>`. */

export interface IntegrationAddedMessage {
  readonly name: string;
  readonly provider: string;
  readonly base_url: string;
}

/** `OAuthProviderAdded`: `provider_id` is the tenant's own name for it. */
export interface OAuthProviderAddedMessage {
  readonly provider_id: string;
  readonly name: string;
}

/** `IntegrationChanged`: the members that have changed. */
export interface IntegrationChangedMessage {
  readonly base_url?: string;
}

/** The form of names of owners and repositories; nothing in it needs to be escaped. */
const PART = /^[\w.~+-]+$/;

/**
 * Returns the path of a repository on the host of an integration: owner and name, on GitLab also groups in between.
 * Undefined when the address is no repository of this host, or holds credentials.
 */
export function repositoryOf(baseUrl: string, repoUrl: string): readonly string[] | undefined {
  const base = new URL(baseUrl);
  const url = new URL(repoUrl);
  const prefix = pathOf(base);
  const path = pathOf(url);
  // Bitbucket integrations may name a workspace in the address, which is part of the repository's path.
  const isPlain = url.username === '' && url.password === '' && url.host === base.host;
  const rest = isPlain && prefix.every((part, index) => path[index] === part) ? path : [];
  const isWorkspace = base.hostname === 'bitbucket.org';
  const parts = isWorkspace ? rest : rest.slice(prefix.length);
  const named = parts.map((part, index) => (index === parts.length - 1 ? part.replace(/\.git$/, '') : part));
  return named.length < 2 || named.some((part) => !PART.test(part) || /^\.\.?$/.test(part)) ? undefined : named;
}

function pathOf({ pathname }: URL): string[] {
  return pathname.split('/').filter((part) => part !== '');
}

/** The address of a repository as it is compared: hosts do not tell cases apart and take a `.git` at the end. */
export function plainRepository(url: string): string {
  return url
    .toLowerCase()
    .replace(/\/+$/, '')
    .replace(/\.git$/, '');
}

/** A deployment of a repository, as far as pushes concern it. */
export interface PushFollower {
  readonly deployment_id: string;
  readonly name: string;
  /** As the deployment has it. */
  readonly repo_url: string;
  readonly repo_ref: string | null;
  /** Commit of its latest revision; null before it is known. */
  readonly repo_commit_sha: string | null;
  /** Commits of which it builds no push, because it was rolled back from them. */
  readonly skipped_commits: readonly string[];
  /** Why it builds no push at all, as the end of a sentence about it; null when it does. */
  readonly refusal: string | null;
  /** Patterns of files of which a push must change one; none accept every push. */
  readonly paths: readonly string[];
}

/** The deployments that a push can concern. The class is also its injection token. */
export abstract class PushFollowers {
  /**
   * Returns the deployments of a workspace that come from an integration and one of these repositories, each as
   * `plainRepository` has it.
   */
  abstract of(
    tenantId: string,
    integrationId: string,
    repositories: readonly string[],
  ): Promise<readonly PushFollower[]>;
}

/** The push that a revision was made for. What a host does not say is null. */
export interface PushCause {
  /** Identifier of the delivery in the list of the integration. */
  readonly delivery_id: string;
  readonly pusher: string | null;
  readonly author: string | null;
  /** First line of the message of the commit. */
  readonly subject: string | null;
}
