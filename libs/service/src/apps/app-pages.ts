import { appOfHost } from '@fairlead/contracts';
import type { Settings } from '../settings';

/**
 * Returns whether browsers reach the pages of deployments at hosts below `localhost`: browsers of this machine only, and
 * through no proxy.
 */
export function hasAppPages({ rollouts, host, publicUrl, edge }: Settings): boolean {
  const isLoopback = host === 'localhost' || host === '::1' || /^127(?:\.\d+){3}$/.test(host);
  return rollouts.executor === 'local' && isLoopback && publicUrl === undefined && edge.trustProxy === undefined;
}

/** Returns the path below which a host is served; undefined for all but those of deployments. */
export function appPagesAt(host: string | undefined): string | undefined {
  const name = appOfHost(host);
  return name && `/app-pages/${name}`;
}
