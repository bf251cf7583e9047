import type { KubernetesSettings } from '@fairlead/executors';
import {
  AllowList,
  Namespaces,
  note,
  oneOf,
  optional,
  parseAllowList,
  parseNamespace,
  parseNamespaces,
  type Reading,
  setting,
} from '@fairlead/schema';
import { anyText, matching } from './texts';

export const KUBERNETES = {
  KUBERNETES_NAMESPACE: note(
    optional(setting(parseNamespace)),
    'Namespace of deployments that name none, for the executor `kubernetes` ([namespaces](../guides/kubernetes.md#namespaces)).',
  ),
  KUBERNETES_NAMESPACES: note(
    optional(setting(parseNamespaces), []),
    'Further namespaces that deployments may name, separated by commas: `agents`, `agents=<workspace id>` for one workspace, `agents-{workspace_id}` for one of each.',
  ),
  KUBERNETES_ALLOW: note(
    optional(setting(parseAllowList), []),
    'What deployments may name in their namespaces, such as `Secret/db,ServiceAccount/agents-*`, separated by commas ([what pods may have](../guides/kubernetes.md#what-pods-may-have)).',
  ),
  KUBERNETES_POD_SECURITY: note(
    optional(oneOf(['restricted', 'baseline', 'privileged']), 'restricted'),
    'Level of the Pod Security Standards of Kubernetes that pods are held to.',
  ),
  KUBERNETES_NODES: note(optional(setting(nodeLabels)), 'Labels of the nodes that pods run on; unset: any node.'),
  KUBERNETES_OVERLAY: note(
    optional(anyText),
    'YAML documents that are merged into every object of their kind ([overlays](../guides/kubernetes.md#overlays-and-addresses)).',
  ),
  KUBERNETES_ROUTE: note(
    optional(anyText),
    'YAML of an Ingress or HTTPRoute that leads requests to each deployment ([addresses](../guides/kubernetes.md#overlays-and-addresses)).',
  ),
  KUBERNETES_HEALTH_PATH: note(
    optional(matching(/^\/[^\s#]*$/, 'must be a path like /ok')),
    'HTTP path at which agents answer when they are ready, for the executor `kubernetes`. Unset: an agent is ready when its port takes connections.',
  ),
};

/** Returns the settings of the executor `kubernetes`. Adds mistakes to `mistakes`. */
export function kubernetesSettings(
  read: Reading<typeof KUBERNETES>,
  isUsed: boolean,
  mistakes: string[],
): KubernetesSettings {
  const namespaces = new Namespaces(read('KUBERNETES_NAMESPACE'), read('KUBERNETES_NAMESPACES'));
  if (isUsed && !namespaces.any) {
    mistakes.push('EXECUTOR=kubernetes needs KUBERNETES_NAMESPACE or KUBERNETES_NAMESPACES.');
  }
  return {
    namespaces,
    rules: { allow: new AllowList(read('KUBERNETES_ALLOW')), level: read('KUBERNETES_POD_SECURITY') },
    healthPath: read('KUBERNETES_HEALTH_PATH'),
    nodes: read('KUBERNETES_NODES'),
    overlay: read('KUBERNETES_OVERLAY'),
    route: read('KUBERNETES_ROUTE'),
  };
}

function nodeLabels(text: string): Record<string, string> {
  const labels = text.split(',').map((label) => /^([\w./-]+)=([\w.-]*)$/.exec(label.trim()));
  const found = labels.flatMap((match) => (match ? [[match[1]!, match[2]!] as const] : []));
  if (found.length === labels.length) return Object.fromEntries(found);
  throw new Error(`must be labels like disk=ssd separated by commas, not ${JSON.stringify(text)}`);
}
