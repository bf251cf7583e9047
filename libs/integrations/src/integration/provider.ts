import { repositoryOf } from '@fairlead/contracts';
import { InvalidIntegration } from './integration.errors';
import type { Provider } from './integration';

const PUBLIC: Readonly<Partial<Record<Provider, string>>> = {
  github: 'https://github.com',
  gitlab: 'https://gitlab.com',
  bitbucket: 'https://bitbucket.org',
};

/** Returns the address of a provider's public host. @throws InvalidIntegration for a provider without one */
export function publicHost(provider: Provider): string {
  const url = PUBLIC[provider];
  if (url === undefined) throw new InvalidIntegration(`base_url is required when provider is '${provider}'.`);
  return url;
}

/** Returns the address below which a host shows its repositories, without a slash at the end. */
export function webUrl(provider: Provider, baseUrl: string): string {
  const { origin, pathname } = new URL(baseUrl);
  // Bitbucket integrations may name a workspace, which is part of the repository's path.
  return provider === 'bitbucket' ? origin : `${origin}${pathname}`.replace(/\/+$/, '');
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
export function repositoryPath(baseUrl: string, repoUrl: string): readonly string[] {
  const path = repositoryOf(baseUrl, repoUrl);
  if (!path) throw new InvalidIntegration('repo_url is not a repository on the host of the integration.');
  return path;
}

function isGitHubCloud({ hostname }: URL): boolean {
  return hostname === 'github.com' || hostname.endsWith('.ghe.com');
}
