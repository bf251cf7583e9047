import type { IncomingHttpHeaders } from 'node:http';
import type { Dialect } from './access';

/** LangSmith's names of sources → Fairlead's names. */
export const sourceAliases = {
  github: 'codehost',
  external_docker: 'external_container',
  internal_docker: 'internal_container',
} as const;

/** Fairlead's names of members → LangSmith's names. */
export const memberAliases = {
  graph_config_path: 'langgraph_config_path',
  cluster_namespace: 'k8s_namespace',
  cluster_namespaces: 'k8s_namespaces',
  cache_cpu: 'redis_cpu',
  cache_cpu_limit: 'redis_cpu_limit',
  cache_memory_mb: 'redis_memory_mb',
  cache_memory_limit_mb: 'redis_memory_limit_mb',
} as const;

const wireSources = new Map<unknown, string>(Object.entries(sourceAliases).map(([wire, name]) => [name, wire]));

/** First segments of the paths of LangSmith's API, which are served below `/api/v1`, `/api` and the root. */
const platform = new Set(
  (
    'annotation-queues api-key audit-logs charts commits datasets examples feedback feedback-configs feedback-formulas ' +
    'info likes metadata orgs otel platform playground-settings prompts public repos runs sessions settings tenants ' +
    'ttl-settings workspaces'
  ).split(' '),
);

/**
 * Headers of every request of the command line `langgraph` for Python: the name of its HTTP library, and exactly this
 * `Accept`.
 */
const PYTHON_CLI = { agent: /^python-httpx\//, accept: 'application/json' };

/**
 * Returns whether a request comes from a client that reads only LangSmith's names: the command line `langgraph` for
 * Python. It has no name of its own in its headers, so it is recognised by those of its HTTP library. Other programs
 * with this library send another `Accept` by default, and a client with a `User-Agent` of its own does not match.
 */
export function readsWire(headers: IncomingHttpHeaders): boolean {
  return headers.accept === PYTHON_CLI.accept && PYTHON_CLI.agent.test(headers['user-agent'] ?? '');
}

/** Returns the address as controllers declare it, and the names that the answer uses. */
export function canonicalUrl(url: string, fallback: Dialect = 'specification'): { url: string; dialect: Dialect } {
  const end = url.search(/[?#]/);
  const search = end < 0 ? '' : url.slice(end);
  let path = end < 0 ? url : url.slice(0, end);
  // A request may name the whole address.
  if (!path.startsWith('/')) path = path.replace(/^https?:\/\/[^/]*/i, '') || '/';
  if (path.includes('//')) path = path.replaceAll(/\/{2,}/g, '/');
  let dialect = fallback;
  if (path.startsWith('/api-host/')) {
    path = path.slice('/api-host'.length);
    dialect = 'wire';
  }
  if (path.startsWith('/v1/integrations/')) {
    const spelled = path
      .replace(/^\/v1\/integrations\/forge\/github(?=\/)/, '/v1/integrations/managed/codehost')
      .replace(/^\/v1\/integrations\/github(?=\/)/, '/v1/integrations/codehost');
    return { url: spelled + search, dialect: spelled === path ? dialect : 'wire' };
  }
  return { url: platformPath(path) + search, dialect };
}

function platformPath(path: string): string {
  const [, first = '', second = ''] = path.split('/', 3);
  if (first === 'v2' || (first === 'api' && second === 'v1')) return path;
  if (first === 'api' && second === 'v2') return path.slice('/api'.length);
  if (first === 'api') return platform.has(second) ? `/api/v1${path.slice('/api'.length)}` : path;
  if (first === 'v1') return platform.has(second) ? `/api${path}` : path;
  return platform.has(first) ? `/api/v1${path}` : path;
}

/**
 * Returns a copy of a deployment, a revision, a listener, or a page or list of them, with LangSmith's names. Only
 * members with a second name are renamed, and only in their places; free-form objects stay as they are.
 */
export function toWire<T>(resource: T): T {
  return wireResource(resource) as T;
}

function wireResource(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(wireResource);
  if (!isRecord(value)) return value;
  const wire: Record<string, unknown> = { ...value };
  for (const name of ['source', 'revision_source']) {
    if (name in wire) wire[name] = wireSources.get(wire[name]) ?? wire[name];
  }
  if ('resources' in wire) wire.resources = wireResource(wire.resources);
  if ('source_revision_config' in wire) wire.source_revision_config = rename(wire.source_revision_config);
  if ('compute_config' in wire) wire.compute_config = rename(wire.compute_config);
  if (isRecord(wire.source_config)) {
    const config: Record<string, unknown> = { ...wire.source_config };
    if ('resource_spec' in config) config.resource_spec = rename(config.resource_spec);
    if ('listener_config' in config) config.listener_config = rename(config.listener_config);
    wire.source_config = config;
  }
  return wire;
}

/** Renames the members of one object, but not of objects inside it. */
function rename(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const names: Readonly<Record<string, string>> = memberAliases;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [names[name] ?? name, inner]));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
