import type { RevisionAssignment } from '../executors/executor';

/** Members of `resource_spec` that change what runs in a cluster, and for which this machine has nothing. */
const OF_PODS = [
  ...['init_containers', 'sidecars', 'volumes', 'volume_mounts', 'service_account_name', 'image_pull_secrets'],
];
/** Variables that the server sets, for what it traces and for all. */
const TRACING = ['LANGSMITH_TRACING', 'LANGSMITH_ENDPOINT', 'LANGSMITH_PROJECT', 'LANGSMITH_API_KEY'];
const ALWAYS = ['PORT', 'LANGCHAIN_REVISION_ID'];

interface Given {
  readonly secrets: Iterable<string>;
  /** Whether runs are sent to the server. */
  readonly traced: boolean;
  /** Further variables that the server sets. */
  readonly set?: readonly string[];
}

/** Returns sentences about what a revision asks for and does not get on this machine. */
export function withoutEffect(
  { resource_spec }: Pick<RevisionAssignment['revision'], 'resource_spec'>,
  { secrets, traced, set = [] }: Given,
): string[] {
  const spec: Readonly<Record<string, unknown>> = resource_spec ?? {};
  const ours = new Set([...ALWAYS, ...(traced ? TRACING : []), ...set]);
  const hidden = [...secrets].filter((name) => ours.has(name));
  return [
    ...hidden.map((name) => `The secret ${name} has no effect: the server sets this variable.`),
    ...OF_PODS.filter((member) => isGiven(spec[member])).map((member) => `${member} has no effect on this machine.`),
  ];
}

function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null;
}
