import type { KubernetesObject, V1Container, V1PodSpec } from '@kubernetes/client-node';
import { managedLabels, type Owner, selector, type Workload } from './labels';
import { AGENT } from './pod-rules';
import { type PodSecurityLevel, securityContextFor } from './pod-security';

/** Kinds that a deployment may have under its own name, or its own name and `-queue`. Earlier versions had one Secret. */
export const NAMED_KINDS = [
  { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler' },
  { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' },
  { apiVersion: 'apps/v1', kind: 'Deployment' },
  { apiVersion: 'v1', kind: 'Service' },
  { apiVersion: 'v1', kind: 'Secret' },
] as const;

const PORT = 8000;
/** CPU use of the replicas, in percent of the request, above which more replicas are started. */
const BUSY_PERCENT = 75;
/** Seconds without progress after which Kubernetes gives a rollout up. */
const PROGRESS_SECONDS = 600;
/** Seconds that a pod must have been ready before it counts. */
const MIN_READY_SECONDS = 10;
/** Seconds in which an agent has to get ready; its container is started again after that. */
const STARTUP_SECONDS = 300;

export const REVISION_ANNOTATION = 'fairlead.dev/revision-id';
/** Says on a deployment which path answers when an agent is ready. */
const HEALTH_PATH_ANNOTATION = 'fairlead.dev/health-path';

/** Where objects are applied, and what holds for all of them there. */
export interface Place {
  readonly namespace: string;
  readonly level: PodSecurityLevel;
  /** HTTP path at which agents answer when they are ready; their port is tried when absent. */
  readonly healthPath?: string;
  /** Labels of the nodes that pods run on; absent: any node. */
  readonly nodes?: Readonly<Record<string, string>>;
}

export interface Named extends KubernetesObject {
  readonly [member: string]: unknown;
}

export interface Manifests {
  /** In the order in which they are applied. */
  readonly wanted: readonly Named[];
  /** Objects that an earlier revision may have had and this one has not. */
  readonly unwanted: readonly Named[];
}

type Spec = Readonly<Record<string, unknown>>;

/**
 * Name of everything that belongs to a deployment: its id, which never changes and is always allowed. What runs beside it
 * while gates hold it has the id of the revision.
 */
export function objectName({ deploymentId, preview, revision }: Owner): string {
  return `fairlead-${preview ? revision!.revision_id : deploymentId}`;
}

export function secretName(assignment: Workload): string {
  return `${objectName(assignment)}-${assignment.revision.revision_id}`;
}

export interface Size {
  readonly least: number;
  readonly most: number;
}

/** The limits within which the autoscaler of the Deployment of this name decides; undefined when there is none. */
export function sizeUnderAutoscaler(objects: readonly Named[], name: string | undefined): Size | undefined {
  const found = objects.find((object) => object.kind === 'HorizontalPodAutoscaler' && object.metadata?.name === name);
  if (!found) return undefined;
  const { minReplicas, maxReplicas } = found.spec as { minReplicas: number; maxReplicas: number };
  return { least: minReplicas, most: maxReplicas };
}

export function leastReplicas(objects: readonly Named[], deployment: Named): number {
  const { replicas = 1 } = deployment.spec as { replicas?: number };
  return sizeUnderAutoscaler(objects, deployment.metadata?.name)?.least ?? replicas;
}

/**
 * The objects of one revision: a Secret of its own, Deployment, Service, a HorizontalPodAutoscaler where more than one
 * size is allowed, a PodDisruptionBudget where there are several replicas; a second Deployment with its autoscaler when
 * the queue is sized by itself. A revision that gates hold has one replica and no queue. Sizes of databases, caches, orchestrators and executors stand in annotations: nothing of
 * these is run here.
 */
export function manifests(assignment: Workload, place: Place, secrets: ReadonlyMap<string, string>): Manifests {
  const spec: Spec = assignment.revision.resource_spec ?? {};
  const name = objectName(assignment);
  const common = { namespace: place.namespace, labels: labelsOf(assignment, spec), annotations: annotationsOf(spec) };
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...common, name: secretName(assignment) },
    type: 'Opaque',
    immutable: true,
    // The server leaves an empty object out, and would take this one for a change of what is immutable.
    ...(secrets.size > 0 && {
      data: Object.fromEntries([...secrets].map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
    }),
  };
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...common, name },
    spec: {
      selector: roleOf(assignment, 'server'),
      ports: [{ name: 'http', port: 80, targetPort: PORT }],
    },
  };
  if (assignment.preview) {
    const own = deploymentSpec(assignment, place, spec, secrets, 'server', '');
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: service.metadata };
    // The others belong to it from the start, so that nothing is left once it is deleted.
    return { wanted: [{ ...deployment, spec: { replicas: 1, ...own } }, secret, service], unwanted: [] };
  }
  const queued = Object.keys(spec).some((member) => member.startsWith('queue_'));
  const roles = [
    { name, role: 'server', prefix: '' },
    { name: `${name}-queue`, role: 'queue', prefix: 'queue_' },
  ];
  const wanted: Named[] = [secret];
  const unwanted: Named[] = [];
  for (const { name, role, prefix } of roles) {
    const metadata = { ...common, name };
    const { min, max } = scale(spec, prefix);
    const autoscaler = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata };
    const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata };
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata };
    if (role === 'queue' && !queued) {
      unwanted.push(autoscaler, budget, deployment);
      continue;
    }
    const scaled = max > min;
    // The autoscaler alone decides the number of replicas where there is one.
    const replicas = scaled ? {} : { replicas: min };
    wanted.push({
      ...deployment,
      spec: { ...replicas, ...deploymentSpec(assignment, place, spec, secrets, role, prefix) },
    });
    if (scaled) wanted.push({ ...autoscaler, spec: autoscalerSpec(name, min, max) });
    else unwanted.push(autoscaler);
    // A budget for a single replica would keep its node from being emptied.
    if (min > 1)
      wanted.push({ ...budget, spec: { maxUnavailable: 1, selector: { matchLabels: roleOf(assignment, role) } } });
    else unwanted.push(budget);
  }
  return { wanted: [...wanted, service], unwanted };
}

function roleOf(owner: Owner, role: string): Record<string, string> {
  return { ...selector(owner), 'fairlead.dev/role': role };
}

function deploymentSpec(
  assignment: Workload,
  place: Place,
  spec: Spec,
  secrets: ReadonlyMap<string, string>,
  role: string,
  prefix: string,
) {
  const { revision_id } = assignment.revision;
  const labels = roleOf(assignment, role);
  const own = { ...labelsOf(assignment, spec), ...labels, 'app.kubernetes.io/component': role };
  return {
    selector: { matchLabels: labels },
    progressDeadlineSeconds: PROGRESS_SECONDS,
    minReadySeconds: MIN_READY_SECONDS,
    template: {
      // The revision's id makes pods new even when only the values of secrets have changed.
      metadata: { labels: own, annotations: { ...strings(spec.annotations), [REVISION_ANNOTATION]: revision_id } },
      spec: podSpec(assignment, place, spec, secrets, role, prefix),
    },
  };
}

function podSpec(
  assignment: Workload,
  { level, nodes, healthPath }: Place,
  spec: Spec,
  secrets: ReadonlyMap<string, string>,
  role: string,
  prefix: string,
): V1PodSpec {
  const { source_revision_config, secret_references } = assignment.revision;
  const name = secretName(assignment);
  const own = previewVariables(assignment);
  const isFree = (variable: { readonly name: string }) => own.every((other) => other.name !== variable.name);
  const container: V1Container = {
    name: AGENT,
    image: source_revision_config.image_uri,
    ports: [{ name: 'http', containerPort: PORT }],
    env: [
      { name: 'PORT', value: String(PORT) },
      { name: 'FAIRLEAD_ROLE', value: role },
      ...own,
      ...[...secrets.keys()].map((key) => ({ name: key, valueFrom: { secretKeyRef: { name, key } } })).filter(isFree),
      ...(secret_references ?? [])
        .map((reference) => ({
          name: reference.name,
          valueFrom: { secretKeyRef: { name: reference.secret_name, key: reference.secret_key } },
        }))
        .filter(isFree),
    ],
    resources: resources(spec, prefix),
    // A queue worker listens to nobody.
    ...(role === 'server' && probes(strings(spec.annotations)[HEALTH_PATH_ANNOTATION] ?? healthPath)),
    ...(Array.isArray(spec.volume_mounts) && { volumeMounts: spec.volume_mounts as V1Container['volumeMounts'] }),
  };
  const secured = (one: V1Container): V1Container => {
    const securityContext = securityContextFor(level, one.securityContext);
    return { ...quantified(one), ...(securityContext && { securityContext }) };
  };
  const sidecars = Array.isArray(spec.sidecars) ? (spec.sidecars as V1Container[]).map(secured) : [];
  return {
    automountServiceAccountToken: false,
    ...spread(roleOf(assignment, role), nodes),
    containers: [secured(container), ...sidecars],
    ...(Array.isArray(spec.init_containers) && {
      initContainers: (spec.init_containers as V1Container[]).map(secured),
    }),
    ...(Array.isArray(spec.volumes) && { volumes: spec.volumes as V1PodSpec['volumes'] }),
    ...(Array.isArray(spec.image_pull_secrets) && {
      imagePullSecrets: spec.image_pull_secrets as V1PodSpec['imagePullSecrets'],
    }),
    ...(typeof spec.service_account_name === 'string' && { serviceAccountName: spec.service_account_name }),
  };
}

/** Variables by which the runs of a held revision are its own; they take the place of secrets of these names. */
function previewVariables({ revision: { revision_id }, preview }: Workload): { name: string; value: string }[] {
  if (!preview) return [];
  const project = ['LANGSMITH_PROJECT', 'LANGCHAIN_PROJECT'].map((name) => ({ name, value: preview.project }));
  return [{ name: 'LANGCHAIN_REVISION_ID', value: revision_id }, ...project];
}

/** Probes with which Kubernetes finds out that an agent is ready: its path answers, or its port where there is none. */
function probes(path: string | undefined): Pick<V1Container, 'startupProbe' | 'readinessProbe'> {
  const how = path === undefined ? { tcpSocket: { port: PORT } } : { httpGet: { path, port: PORT } };
  return {
    startupProbe: { ...how, periodSeconds: 2, timeoutSeconds: 5, failureThreshold: STARTUP_SECONDS / 2 },
    readinessProbe: { ...how, periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 3 },
  };
}

function resources(spec: Spec, prefix: string) {
  const quantity = (member: string, unit: string) => {
    const value = spec[prefix + member];
    return typeof value === 'number' ? `${value}${unit}` : undefined;
  };
  const part = (cpu: string | undefined, memory: string | undefined) => ({
    ...(cpu !== undefined && { cpu }),
    ...(memory !== undefined && { memory }),
  });
  // Memory is given in megabytes of 10^6 bytes.
  return {
    requests: part(quantity('cpu', ''), quantity('memory_mb', 'M')),
    limits: part(quantity('cpu_limit', ''), quantity('memory_limit_mb', 'M')),
  };
}

function autoscalerSpec(name: string, minReplicas: number, maxReplicas: number) {
  return {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
    minReplicas,
    maxReplicas,
    metrics: [
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: BUSY_PERCENT } },
      },
    ],
  };
}

function scale(spec: Spec, prefix: string): { min: number; max: number } {
  const given = (member: string) => {
    const value = spec[prefix + member];
    return typeof value === 'number' ? value : undefined;
  };
  const most = given('max_scale');
  const min = given('min_scale') ?? Math.min(1, most ?? 1);
  // No autoscaler wakes what does not run.
  return { min, max: min === 0 ? 0 : Math.max(min, most ?? min) };
}

function labelsOf(assignment: Workload, spec: Spec): Record<string, string> {
  return { ...strings(spec.labels), ...managedLabels(assignment) };
}

/** Spreads the replicas over nodes and zones where that is possible, on the nodes that the operator chooses. */
function spread(matchLabels: Record<string, string>, nodes: Place['nodes']): Partial<V1PodSpec> {
  const over = (topologyKey: string) => {
    return { maxSkew: 1, topologyKey, whenUnsatisfiable: 'ScheduleAnyway', labelSelector: { matchLabels } };
  };
  return {
    topologySpreadConstraints: [over('kubernetes.io/hostname'), over('topology.kubernetes.io/zone')],
    ...(nodes && { nodeSelector: { ...nodes } }),
  };
}

const ELSEWHERE = /^(db|cache|orchestrator|executor)_/;

function annotationsOf(spec: Spec): Record<string, string> {
  const sizes = Object.entries(spec).filter(([member]) => ELSEWHERE.test(member));
  const noted = sizes.map(([member, value]) => [`fairlead.dev/${member.replaceAll('_', '-')}`, String(value)]);
  return { ...strings(spec.annotations), ...(Object.fromEntries(noted) as Record<string, string>) };
}

/** The members of a free-form object as the strings that Kubernetes takes, those that are not text as JSON; null is absent. */
function strings(value: unknown): Record<string, string> {
  const members = Object.entries((value ?? {}) as Record<string, unknown>).filter(([, member]) => member !== null);
  return Object.fromEntries(
    members.map(([name, member]) => [name, typeof member === 'string' ? member : JSON.stringify(member)]),
  );
}

function quantified(container: V1Container): V1Container {
  const { limits, requests } = container.resources ?? {};
  if (!limits && !requests) return container;
  const resources = { ...(limits && { limits: strings(limits) }), ...(requests && { requests: strings(requests) }) };
  return { ...container, resources };
}
