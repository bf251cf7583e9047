import type { CoreV1Event, KubernetesObject, V1Deployment, V1Pod } from '@kubernetes/client-node';
import type { ProcessHealth } from '../health/health.answers.schema';
import { type Call, ClusterClient, ClusterRefused, type ClusterSettings } from './cluster.client';
import { ClusterFollower } from './cluster.follower';
import {
  type Assignment,
  Executor,
  type Placed,
  type RevisionAssignment,
  type RolloutSteps,
  type Step,
  StepFailed,
} from './executor';
import {
  leastReplicas,
  manifests,
  type Named,
  NAMED_KINDS,
  objectName,
  REVISION_ANNOTATION,
  selector,
  type Size,
  sizeUnderAutoscaler,
} from './manifests';
import { podHealth, sumOf } from './pod-health';
import { isStuck } from './pod-troubles';
import { Progress } from './progress';

/** Field manager of numbers of replicas that autoscalers take over. */
const SCALER = 'fairlead-scale';
/** Pods whose events are read at a look: the pods of one revision seldom have different reasons. */
const PODS_ASKED = 3;

interface KubernetesSettings extends ClusterSettings {
  /** For deployments whose listener_config names none. */
  readonly namespace: string;
  /** HTTP path at which agents answer when they are ready; their port is tried when absent. */
  readonly healthPath?: string;
  /** Milliseconds after which a rollout is looked at although the cluster told of no change. Patience is counted in looks. */
  readonly look?: number;
}

/** Milliseconds that the cluster has to tell what runs. */
const LOOK_MS = 5000;

/** A pod as the metrics server of a cluster tells it. */
interface Measured {
  readonly metadata: { readonly name: string };
  readonly containers: readonly { readonly usage: { readonly cpu: string; readonly memory: string } }[];
}

/** Applies each revision to a Kubernetes cluster and watches until it is ready. It builds nothing: images only. */
export class KubernetesExecutor extends Executor {
  readonly name = 'kubernetes';
  private readonly cluster: ClusterClient;
  private readonly follower: ClusterFollower;
  /** For those who wait for an answer themselves. */
  private readonly looking: ClusterClient;

  constructor(private readonly settings: KubernetesSettings) {
    super();
    this.cluster = new ClusterClient(settings);
    this.looking = new ClusterClient({ ...settings, deadline: LOOK_MS, patience: 0 });
    this.follower = new ClusterFollower(this.cluster, settings.look ?? 1000);
  }

  async prepare(_: Assignment, { signal }: Step): Promise<void> {
    await this.cluster.ping({ signal });
  }

  rollOut(assignment: RevisionAssignment): RolloutSteps {
    return { deploy: (step) => this.deploy(assignment, step), close: async () => undefined };
  }

  async remove(assignment: Assignment, step: Step): Promise<void> {
    const namespace = this.namespaceOf(assignment);
    const names = [objectName(assignment), `${objectName(assignment)}-queue`];
    for (const { apiVersion, kind } of NAMED_KINDS) {
      for (const name of names) {
        await this.cluster.remove({ apiVersion, kind, metadata: { name, namespace } }, callOf(step));
      }
    }
    await step.log('INFO', `Nothing of the deployment is left in the namespace ${namespace}.`);
  }

  override async inspect(placed: Placed, signal: AbortSignal): Promise<readonly ProcessHealth[]> {
    const query = { kind: 'Pod', namespace: this.namespaceOf(placed), labels: selector(placed) };
    const measuring = this.looking.list<Measured>({ ...query, apiVersion: 'metrics.k8s.io/v1beta1' }, { signal });
    // Not every cluster measures.
    const measured = measuring.then(({ items }) => items).catch(() => []);
    const { items: pods } = await this.looking.list<V1Pod>({ ...query, apiVersion: 'v1' }, { signal });
    const usages = new Map((await measured).map((pod) => [pod.metadata.name, usageOf(pod)]));
    return pods.map((pod) => podHealth(pod, usages.get(pod.metadata?.name ?? '')));
  }

  private async deploy(assignment: RevisionAssignment, step: Step): Promise<void> {
    if (assignment.revision.source_revision_config.image_uri === undefined) {
      throw new StepFailed('This installation deploys images and builds none (EXECUTOR=kubernetes): set image_uri.');
    }
    const namespace = this.namespaceOf(assignment);
    const call = callOf(step);
    if (!(await this.cluster.read({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, call))) {
      throw new StepFailed(`The cluster has no namespace ${namespace}.`);
    }
    const secrets = await assignment.secrets();
    const { wanted, unwanted } = manifests(assignment, namespace, secrets, this.settings.healthPath);
    for (const object of wanted) {
      const size = object.kind === 'Deployment' ? sizeUnderAutoscaler(wanted, object.metadata?.name) : undefined;
      if (size) await this.applyKeepingSize(object, size, call);
      else await this.cluster.apply(object, call);
      await step.log('INFO', `${object.kind} ${object.metadata?.name} is applied in the namespace ${namespace}.`);
    }
    for (const object of unwanted) await this.cluster.remove(object, call);
    await this.settle(wanted, assignment, namespace, step);
  }

  /**
   * Applies a Deployment whose number of replicas its autoscaler decides. The number stays as it is within the limits:
   * it belongs to another field manager before the one that applies leaves it out, or it would become 1.
   */
  private async applyKeepingSize(object: KubernetesObject, { least, most }: Size, call: Call): Promise<void> {
    const { apiVersion, kind, metadata: { name, namespace } = {} } = object;
    const scale = (replicas: number) => {
      const sized = { apiVersion, kind, metadata: { name, namespace }, spec: { replicas } };
      return this.cluster.apply(sized, call, false, SCALER);
    };
    const current = (await this.cluster.read<V1Deployment>(object, call))?.spec?.replicas;
    if (current !== undefined) await scale(Math.min(Math.max(current, least), most));
    await this.cluster.apply(object, call);
    if (current === undefined) await scale(least);
  }

  /**
   * Waits until all replicas run the revision, and go on running.
   * @throws StepFailed with the first cause when they will not, or when the step ends before they do
   */
  private async settle(
    objects: readonly Named[],
    assignment: RevisionAssignment,
    namespace: string,
    step: Step,
  ): Promise<void> {
    const { look = 1000 } = this.settings;
    const patience = { errors: 60 * look, noProgress: 10 * look, steady: 30 * look };
    const followed = objects
      .filter(({ kind }) => kind === 'Deployment')
      .map((object) => {
        const { name = '' } = object.metadata ?? {};
        return { name, progress: new Progress(name, leastReplicas(objects, object), patience) };
      });
    const labels = selector(assignment);
    const queries = [
      { apiVersion: 'apps/v1', kind: 'Deployment', namespace, labels },
      { apiVersion: 'v1', kind: 'Pod', namespace, labels },
    ];
    const told = new Set<string>();
    await step.waits();
    try {
      for await (const [deployments = [], pods = []] of this.follower.follow(queries, step)) {
        const present = pods.filter((pod) => runs(pod, assignment));
        const events = await this.eventsOf(present, namespace, step);
        const found = followed.map(({ name, progress }) => {
          const deployment = deployments.find(({ metadata }) => metadata?.name === name) ?? {};
          return progress.look(deployment, present.filter((pod) => isOf(pod, deployment)), events, Date.now());
        });
        for (const line of found.flatMap(({ lines }) => lines)) {
          if (!told.has(line)) await step.log('INFO', line);
          told.add(line);
        }
        if (found.every(({ isDone }) => isDone)) return;
      }
    } catch (error) {
      const cause = followed.map(({ progress }) => progress.cause).find((known) => known !== undefined);
      if (step.signal.aborted && cause !== undefined) throw new StepFailed(cause, { cause: error });
      throw error;
    }
  }

  /** What the cluster tells of pods that are not ready. */
  private async eventsOf(pods: readonly V1Pod[], namespace: string, { signal }: Step): Promise<CoreV1Event[]> {
    const stuck = pods.filter(isStuck).slice(0, PODS_ASKED);
    const asked = stuck.map(async ({ metadata: { name = '' } = {} }) => {
      const fields = { 'involvedObject.kind': 'Pod', 'involvedObject.name': name };
      const query = { apiVersion: 'v1', kind: 'Event', namespace, fields };
      const listed = this.cluster.list<CoreV1Event>(query, { signal, patient: false });
      return (await listed.catch(unlessForbidden)).items;
    });
    return (await Promise.all(asked)).flat();
  }

  private namespaceOf({ config }: Placed): string {
    return config.listener_config?.cluster_namespace ?? this.settings.namespace;
  }
}

function callOf({ signal, log }: Step): Call {
  return { signal, warn: (text) => log('WARNING', `The cluster warns: ${text}`) };
}

function usageOf({ containers }: Measured) {
  return {
    memory_bytes: Math.round(sumOf(containers.map(({ usage }) => usage.memory))),
    cpu_cores: sumOf(containers.map(({ usage }) => usage.cpu)),
  };
}

/** Whether a pod runs the revision. */
function runs({ metadata }: V1Pod, { revision }: RevisionAssignment): boolean {
  return metadata?.annotations?.[REVISION_ANNOTATION] === revision.revision_id;
}

function isOf({ metadata }: V1Pod, { spec }: V1Deployment): boolean {
  return Object.entries(spec?.selector.matchLabels ?? {}).every(([label, value]) => metadata?.labels?.[label] === value);
}

/** Without the right to read events, the statuses have to do. */
function unlessForbidden(error: unknown): { items: CoreV1Event[] } {
  if (error instanceof ClusterRefused && error.status === 403) return { items: [] };
  throw error;
}
