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
