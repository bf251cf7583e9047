import type { KubernetesObject, V1Deployment, V1Pod } from '@kubernetes/client-node';
import type { ProcessHealth } from '../health/health.answers.schema';
import { type Call, ClusterClient, type ClusterSettings } from './cluster.client';
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
import { podHealth, sumOf } from './pod-health';
import { isPerDeployment, manifests, NAMED_KINDS, objectName, selector } from './manifests';

interface KubernetesSettings extends ClusterSettings {
  /** For deployments whose listener_config names none. */
  readonly namespace: string;
  /** Milliseconds after which a rollout is looked at although the cluster told of no change. */
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
    const { wanted, unwanted } = manifests(assignment, namespace, secrets);
    for (const object of wanted) {
      await this.cluster.apply(object, call);
      await step.log('INFO', `${object.kind} ${object.metadata?.name} is applied in the namespace ${namespace}.`);
    }
    for (const object of unwanted) await this.cluster.remove(object, call);
    await this.ready(wanted.filter(isPerDeployment), assignment, namespace, step);
  }

  /** Waits until all replicas run the new template. @throws StepFailed when Kubernetes says that they will not */
  private async ready(
    wanted: readonly KubernetesObject[],
    assignment: Assignment,
    namespace: string,
    { signal, log }: Step,
  ): Promise<void> {
    const told = new Set<string>();
    const tell = async (line: string) => {
      if (!told.has(line)) await log('INFO', line);
      told.add(line);
    };
    const labels = selector(assignment);
    const queries = [
      { apiVersion: 'apps/v1', kind: 'Deployment', namespace, labels },
      { apiVersion: 'v1', kind: 'Pod', namespace, labels },
    ];
    for await (const [deployments = [], pods = []] of this.follower.follow(queries, { signal })) {
      const looks = wanted.map(({ metadata }) =>
        progress((deployments as V1Deployment[]).find((found) => found.metadata?.name === metadata?.name)),
      );
      for (const { line } of looks) if (line !== undefined) await tell(line);
      for (const line of (pods as V1Pod[]).flatMap(troubles)) await tell(line);
      if (looks.every(({ done }) => done)) return;
    }
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

/** How far a Deployment is, in a sentence; none before Kubernetes has seen it. @throws StepFailed when it is given up */
function progress(deployment: V1Deployment | undefined): { readonly line?: string; readonly done: boolean } {
  const { metadata, spec, status } = deployment ?? {};
  if (status?.observedGeneration === undefined || status.observedGeneration < (metadata?.generation ?? 0)) {
    return { done: false };
  }
  const stuck = status.conditions?.find(({ type, status }) => type === 'Progressing' && status === 'False');
  if (stuck) throw new StepFailed(`${metadata?.name}: ${stuck.message ?? stuck.reason ?? 'it makes no progress'}`);
  const replicas = spec?.replicas ?? 1;
  const { updatedReplicas = 0, availableReplicas = 0, replicas: all = 0 } = status;
  return {
    line: `${metadata?.name}: ${updatedReplicas} of ${replicas} updated, ${availableReplicas} available.`,
    done: updatedReplicas >= replicas && all <= updatedReplicas && availableReplicas >= replicas,
  };
}

/** What keeps containers of a pod waiting, one sentence each. */
function troubles({ metadata, status }: V1Pod): string[] {
  return (status?.containerStatuses ?? []).flatMap(({ name, state }) => {
    const waiting = state?.waiting;
    if (!waiting?.reason || waiting.reason === 'ContainerCreating') return [];
    return [`${metadata?.name}/${name} waits: ${waiting.reason}${waiting.message ? `, ${waiting.message}` : ''}`];
  });
}
