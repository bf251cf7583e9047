import type { V1Pod } from '@kubernetes/client-node';
import type { ProcessHealth } from '../health/health.answers.schema';
import { ClusterClient, type ClusterSettings } from './cluster.client';
import {
  type Assignment,
  Executor,
  type Observation,
  type Placed,
  type RevisionAssignment,
  type RolloutSteps,
  type Step,
  StepFailed,
  type Upkeep,
} from './executor';
import { manifests, selector } from './manifests';
import { ObjectsClient } from './objects.client';
import { podHealth, sumOf } from './pod-health';
import { RolloutWatch } from './rollout.watch';

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
  override readonly upkeep: Upkeep = {
    place: (assignment) => this.namespaceOf(assignment),
    observe: (assignment, step) => this.observe(assignment, step),
    restore: (assignment, step) => this.deploy(assignment, step),
    halt: (assignment, step) => this.halt(assignment, step),
  };
  private readonly cluster: ClusterClient;
  /** For those who wait for an answer themselves. */
  private readonly looking: ClusterClient;
  private readonly objects: ObjectsClient;
  private readonly watch: RolloutWatch;

  constructor(private readonly settings: KubernetesSettings) {
    super();
    this.cluster = new ClusterClient(settings);
    this.looking = new ClusterClient({ ...settings, deadline: LOOK_MS, patience: 0 });
    this.objects = new ObjectsClient(this.cluster);
    this.watch = new RolloutWatch(this.cluster, settings.look ?? 1000);
  }

  async prepare(_: Assignment, { signal }: Step): Promise<void> {
    await this.cluster.ping({ signal });
  }

  rollOut(assignment: RevisionAssignment): RolloutSteps {
    return { deploy: (step) => this.deploy(assignment, step), close: async () => undefined };
  }

  async remove(assignment: Assignment, step: Step): Promise<void> {
    const namespace = this.namespaceOf(assignment);
    await this.objects.remove(assignment, namespace, this.settings.look ?? 1000, step);
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

  private async observe(assignment: RevisionAssignment, step: Step): Promise<Observation> {
    const namespace = this.namespaceOf(assignment);
    const names = new Map(assignment.revision.secrets.map(({ name }) => [name, '']));
    const { wanted } = manifests(assignment, namespace, names, this.settings.healthPath);
    const drift = await this.objects.differences(wanted, assignment, namespace, step);
    const trouble = await this.watch.trouble(wanted, assignment, namespace, step);
    return { drift, ...(trouble !== undefined && { trouble }) };
  }

  private async halt(assignment: Assignment, step: Step): Promise<void> {
    const namespace = this.namespaceOf(assignment);
    await this.objects.halt(assignment, namespace, step);
    await this.watch.halted(assignment, namespace, step);
  }

  private async deploy(assignment: RevisionAssignment, step: Step): Promise<void> {
    if (assignment.revision.source_revision_config.image_uri === undefined) {
      throw new StepFailed('This installation deploys images and builds none (EXECUTOR=kubernetes): set image_uri.');
    }
    const namespace = this.namespaceOf(assignment);
    const place = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
    if (!(await this.cluster.read(place, step))) {
      throw new StepFailed(`The cluster has no namespace ${namespace}.`);
    }
    const secrets = await assignment.secrets();
    const { wanted, unwanted } = manifests(assignment, namespace, secrets, this.settings.healthPath);
    await this.objects.put(wanted, unwanted, assignment, step);
    await this.watch.settled(wanted, assignment, namespace, step);
    await this.objects.removeFormerSecrets(assignment, namespace, step);
  }

  private namespaceOf({ place, config }: Placed): string {
    return place ?? config.listener_config?.cluster_namespace ?? this.settings.namespace;
  }
}

function usageOf({ containers }: Measured) {
  return {
    memory_bytes: Math.round(sumOf(containers.map(({ usage }) => usage.memory))),
    cpu_cores: sumOf(containers.map(({ usage }) => usage.cpu)),
  };
}
