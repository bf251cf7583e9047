import { appOfHost } from '@fairlead/contracts';
import type { Settings } from '../settings/settings';

/** Returns whether only clients of this machine reach the server, and through no proxy. */
export function isOfThisMachine({ host, publicUrl, edge }: Pick<Settings, 'host' | 'publicUrl' | 'edge'>): boolean {
  const isLoopback = host === 'localhost' || host === '::1' || /^127(?:\.\d+){3}$/.test(host);
  return isLoopback && publicUrl === undefined && edge.trustProxy === undefined;
}

/** Returns whether browsers reach the pages of deployments at hosts below `localhost`. */
export function hasAppPages(settings: Settings): boolean {
  return settings.rollouts.executor === 'local' && isOfThisMachine(settings);
}

/** Returns the path below which a host is served; undefined for all but those of deployments. */
export function appPagesAt(host: string | undefined): string | undefined {
  const name = appOfHost(host);
  return name && `/app-pages/${name}`;
}
