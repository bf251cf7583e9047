import { parseUrl } from '@fairlead/schema';
import type { AuthMethod } from '../oauth/provider';

/** The members that are used of the metadata of a protected resource (RFC 9728). */
export interface ResourceMetadata {
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly scopes?: readonly string[];
}

/** Returns the parameter `resource_metadata` of a `WWW-Authenticate` header (RFC 9728, section 5.1). */
export function challengedMetadata(header: string | null): string | undefined {
  return /\bresource_metadata\s*=\s*(?:"([^"\\]+)"|([^\s,"]+))/i
    .exec(header ?? '')
    ?.slice(1)
    .find(Boolean);
}

/** Returns the addresses at which a resource may publish its metadata: below its path first, then at the root. */
export function wellKnownMetadata(resource: URL): string[] {
  const path = resource.pathname.replace(/\/$/, '');
  const at = (suffix: string) => `${resource.origin}/.well-known/oauth-protected-resource${suffix}`;
  return path === '' ? [at('')] : [at(path), at('')];
}

/** Returns the metadata in a document; undefined when it is none, or describes another resource than `server`. */
export function readMetadata(document: unknown, server: URL): ResourceMetadata | undefined {
  const { resource, authorization_servers, scopes_supported } = Object(document) as Record<string, unknown>;
  if (typeof resource !== 'string' || !speaksFor(resource, server)) return undefined;
  return { resource, authorizationServers: texts(authorization_servers), scopes: texts(scopes_supported) };
}

/** Returns the preferred method of client authentication among those that a server supports. */
export function preferredMethod(supported: readonly string[] = ['client_secret_basic']): AuthMethod | undefined {
  const known: AuthMethod[] = ['client_secret_post', 'client_secret_basic', 'none'];
  return known.find((method) => supported.includes(method));
}

/** Returns whether `resource` is the URL of the server, or one above it on the same origin. */
function speaksFor(resource: string, server: URL): boolean {
  const url = parseUrl(resource);
  if (!url) return false;
  const { origin, pathname } = url;
  const base = pathname.endsWith('/') ? pathname : `${pathname}/`;
  return origin === server.origin && `${server.pathname}/`.startsWith(base);
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}
