/** What integrations and OAuth providers tell others. Their streams are `integration-<id>` and `oauthProvider-<id>`. */

/** `IntegrationAdded` */
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
 * Undefined when the address is no repository of this host.
 */
export function repositoryOf(baseUrl: string, repoUrl: string): readonly string[] | undefined {
  const base = new URL(baseUrl);
  const url = new URL(repoUrl);
  const prefix = pathOf(base);
  const path = pathOf(url);
  // Bitbucket integrations may name a workspace in the address, which is part of the repository's path.
  const rest = url.host === base.host && prefix.every((part, index) => path[index] === part) ? path : [];
  const isWorkspace = base.hostname === 'bitbucket.org';
  const parts = isWorkspace ? rest : rest.slice(prefix.length);
  const named = parts.map((part, index) => (index === parts.length - 1 ? part.replace(/\.git$/, '') : part));
  return named.length < 2 || named.some((part) => !PART.test(part) || /^\.\.?$/.test(part)) ? undefined : named;
}

function pathOf({ pathname }: URL): string[] {
  return pathname.split('/').filter((part) => part !== '');
}
