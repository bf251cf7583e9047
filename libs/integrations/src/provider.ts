import { InvalidIntegration } from './integration.errors';
import type { Provider } from './integration';

const PUBLIC: Readonly<Partial<Record<Provider, string>>> = {
  github: 'https://github.com',
  gitlab: 'https://gitlab.com',
  bitbucket: 'https://bitbucket.org',
};

/** The form of names of owners and repositories; nothing in it needs to be escaped. */
const PART = /^[\w.~+-]+$/;

/** Returns the address of a provider's public host. @throws InvalidIntegration for a provider without one */
export function publicHost(provider: Provider): string {
  const url = PUBLIC[provider];
  if (url === undefined) throw new InvalidIntegration(`base_url is required when provider is '${provider}'.`);
  return url;
}

/** Returns the address of the API of a host, without a slash at the end. */
export function apiUrl(provider: Provider, baseUrl: string): string {
  const url = new URL(baseUrl);
  const base = `${url.origin}${url.pathname}`.replace(/\/+$/, '');
  switch (provider) {
    case 'github':
      // GitHub's own hosts have a host for the API; a server in a company has a path.
      return isGitHubCloud(url) ? `${url.protocol}//api.${url.host}` : `${base}/api/v3`;
    case 'gitlab':
      return `${base}/api/v4`;
    case 'gitea':
      return `${base}/api/v1`;
    case 'bitbucket':
      return url.hostname === 'bitbucket.org' ? 'https://api.bitbucket.org/2.0' : `${url.origin}/2.0`;
  }
}

/**
 * Returns the path of a repository on its host: owner and name, on GitLab also groups in between.
 * @throws InvalidIntegration when the address is no repository of this host.
 */
export function repositoryPath(baseUrl: string, repoUrl: string): string[] {
  const base = new URL(baseUrl);
  const url = new URL(repoUrl);
  const prefix = pathOf(base);
  const path = pathOf(url);
  // Bitbucket integrations may name a workspace in the address, which is part of the repository's path.
  const rest = url.host === base.host && prefix.every((part, index) => path[index] === part) ? path : [];
  const isWorkspace = base.hostname === 'bitbucket.org';
  const parts = isWorkspace ? rest : rest.slice(prefix.length);
  const named = parts.map((part, index) => (index === parts.length - 1 ? part.replace(/\.git$/, '') : part));
  if (named.length < 2 || named.some((part) => !PART.test(part) || /^\.\.?$/.test(part))) {
    throw new InvalidIntegration('repo_url is not a repository on the host of the integration.');
  }
  return named;
}

/** Returns the short name of a branch or tag: `main` for `refs/heads/main`. */
export function shortRef(ref: string): string {
  return ref.replace(/^refs\/(heads|tags)\//, '');
}

function isGitHubCloud({ hostname }: URL): boolean {
  return hostname === 'github.com' || hostname.endsWith('.ghe.com');
}

function pathOf({ pathname }: URL): string[] {
  return pathname.split('/').filter((part) => part !== '');
}
