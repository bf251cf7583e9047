import type { KubernetesObject } from '@kubernetes/client-node';
import { StepFailed } from '../port/executor';
import type { Workload } from './labels';
import { type Manifests, manifests, type Place } from './manifests';
import { filled, overlaid, type Overlay } from './overlay';

/** Kinds of objects that can lead requests to an agent. */
export const ROUTE_KINDS = [
  { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress' },
  { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute' },
];

/** Texts of the operator, YAML or JSON. */
export interface AdditionsSettings {
  /** Documents that are merged into every object of their kind. */
  readonly overlay?: string;
  /** An Ingress or HTTPRoute that each deployment gets. */
  readonly route?: string;
}

/** Reads the additions of the operator. @throws StepFailed naming the setting that cannot be used */
export async function additionsOf({ overlay, route }: AdditionsSettings) {
  const overlays = await documents('KUBERNETES_OVERLAY', overlay);
  for (const { metadata } of overlays) {
    if (metadata?.name === undefined && metadata?.namespace === undefined) continue;
    throw new StepFailed('KUBERNETES_OVERLAY must not have metadata.name or metadata.namespace.');
  }
  const [template, ...more] = await documents('KUBERNETES_ROUTE', route);
  const kinds = ROUTE_KINDS.map(({ kind }) => kind);
  if (template && (more.length > 0 || !kinds.includes(template.kind))) {
    throw new StepFailed(`KUBERNETES_ROUTE must be one object of the kind ${kinds.join(' or ')}.`);
  }
  return { overlays, template };
}

/**
 * Returns the objects of a revision with what overlays add, and with the one that leads requests to the agent, which a
 * held revision does not have: it is reached with a key only. Without `secrets`, their values are empty. @throws StepFailed naming the setting that cannot be used
 */
export async function objectsOf(
  revision: Workload,
  place: Place,
  settings: AdditionsSettings,
  secrets: ReadonlyMap<string, string> = new Map(revision.revision.secrets.map(({ name }) => [name, ''])),
): Promise<Manifests> {
  const { overlays, template } = await additionsOf(settings);
  const { wanted, unwanted } = manifests(revision, place, secrets);
  const service = wanted.find(({ kind }) => kind === 'Service');
  const { name = '', namespace = '', labels } = service?.metadata ?? {};
  const values = { workspace_id: revision.tenantId, deployment_id: revision.deploymentId, name, namespace };
  const route = template && !revision.preview ? filled(template, values) : undefined;
  const metadata = { ...route?.metadata, name, namespace, labels: { ...route?.metadata?.labels, ...labels } };
  const all = route ? [...wanted, { ...route, metadata }] : wanted;
  return { wanted: all.map((object) => overlaid(object, overlays, values)), unwanted };
}

/** Returns the address of an agent whose requests an object leads to it; undefined when it names no host. */
export function addressOf(route: KubernetesObject): string | undefined {
  const { spec = {} } = route as { spec?: { rules?: { host?: string }[]; hostnames?: string[]; tls?: unknown[] } };
  const host = spec.rules?.[0]?.host ?? spec.hostnames?.[0];
  if (host === undefined) return undefined;
  return `${route.kind === 'Ingress' && !spec.tls?.length ? 'http' : 'https'}://${host}`;
}

async function documents(setting: string, text: string | undefined): Promise<(KubernetesObject & Overlay)[]> {
  if (text === undefined) return [];
  const { loadAllYaml } = await import('@kubernetes/client-node');
  let found: unknown[];
  try {
    found = loadAllYaml(text);
  } catch (error) {
    throw new StepFailed(`${setting} is no YAML: ${(error as Error).message.split('\n')[0]}.`);
  }
  for (const one of found) {
    if (typeof (one as { kind?: unknown } | null)?.kind === 'string') continue;
    throw new StepFailed(`${setting} must have objects with a kind.`);
  }
  return found as (KubernetesObject & Overlay)[];
}
