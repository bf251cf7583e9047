import type { KubernetesSettings } from '@fairlead/executors';
import { AllowList, Namespaces, parseAllowList, parseNamespace, parseNamespaces } from '@fairlead/schema';
import { Mistake, oneOf, orMistake, type Read } from './setting';

const POD_SECURITY_LEVELS = ['restricted', 'baseline', 'privileged'] as const;

/** Returns the settings of the executor `kubernetes`. Adds mistakes to `mistakes`. */
export function kubernetesSettings(read: Read, isUsed: boolean, mistakes: string[]): KubernetesSettings {
  const usual = read<ReturnType<typeof parseNamespace> | undefined>(
    'KUBERNETES_NAMESPACE',
    undefined,
    orMistake(parseNamespace),
  );
  const namespaces = new Namespaces(usual, read('KUBERNETES_NAMESPACES', [], orMistake(parseNamespaces)));
  if (isUsed && !namespaces.any) {
    mistakes.push('EXECUTOR=kubernetes needs KUBERNETES_NAMESPACE or KUBERNETES_NAMESPACES.');
  }
  return {
    namespaces,
    rules: {
      allow: new AllowList(read('KUBERNETES_ALLOW', [], orMistake(parseAllowList))),
      level: read('KUBERNETES_POD_SECURITY', 'restricted', oneOf(POD_SECURITY_LEVELS)),
    },
    healthPath: read<string | undefined>('KUBERNETES_HEALTH_PATH', undefined, path),
    nodes: read<Record<string, string> | undefined>('KUBERNETES_NODES', undefined, nodeLabels),
    overlay: read<string | undefined>('KUBERNETES_OVERLAY', undefined, (text) => text),
    route: read<string | undefined>('KUBERNETES_ROUTE', undefined, (text) => text),
  };
}

function nodeLabels(text: string): Record<string, string> | Mistake {
  const labels = text.split(',').map((label) => /^([\w./-]+)=([\w.-]*)$/.exec(label.trim()));
  const found = labels.flatMap((match) => (match ? [[match[1]!, match[2]!] as const] : []));
  if (found.length === labels.length) return Object.fromEntries(found);
  return new Mistake(`must be labels like disk=ssd separated by commas, not ${JSON.stringify(text)}`);
}

function path(text: string): string | Mistake {
  return /^\/[^\s#]*$/.test(text) ? text : new Mistake('must be a path like /ok');
}
