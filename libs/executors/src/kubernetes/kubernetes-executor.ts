import type { V1Pod } from '@kubernetes/client-node';
import type { ControlAction } from '@fairlead/contracts';
import { additionsOf, type AdditionsSettings, addressOf, objectsOf } from './additions';
import type { ProcessHealth } from '../port/process-health.schema';
import { EndedPods, type PodEnds } from './ended-pods';
import { ClusterClient, ClusterRefused, type ClusterSettings } from './cluster.client';
import {
  type Assignment,
  Executor,
  ExecutorUnreachable,
  type Observation,
  type Placed,
  type RevisionAssignment,
  type RolloutSteps,
  type Step,
  StepFailed,
  type Upkeep,
} from '../port/executor';
import { selector } from './labels';
import { ObjectsClient } from './objects.client';
import { podHealth, sumOf } from './pod-health';
import { namespaceOf, type PlaceSettings, placeOf, presentNamespace } from './place';
import { ClusterPreviews } from './cluster-previews.client';
import { RolloutWatch } from './rollout-watch';

export interface KubernetesSettings extends ClusterSettings, PlaceSettings, AdditionsSettings {
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
    place: (assignment) => namespaceOf(assignment, this.settings.namespaces),
    observe: (assignment, step) => this.observe(assignment, step),
    restore: (assignment, step) => this.deploy(assignment, step),
    halt: (assignment, step) => this.halt(assignment, step),
  };
  private readonly cluster: ClusterClient;
  /** For those who wait for an answer themselves. */
  private readonly looking: ClusterClient;
  private readonly objects: ObjectsClient;
  private readonly watch: RolloutWatch;
  private readonly ended = new EndedPods();
  override readonly previews: ClusterPreviews;

  constructor(private readonly settings: KubernetesSettings) {
    super();
    this.cluster = new ClusterClient(settings);
    this.looking = new ClusterClient({ ...settings, deadline: LOOK_MS, patience: 0 });
    this.objects = new ObjectsClient(this.cluster);
    this.watch = new RolloutWatch(this.cluster, settings.look ?? 1000);
    const { cluster, looking, objects, watch } = this;
    this.previews = new ClusterPreviews(settings, { cluster, looking, objects, watch });
  }

  override async check(signal: AbortSignal): Promise<string | undefined> {
    try {
      await additionsOf(this.settings);
      await this.cluster.ping({ signal });
      for (const name of this.settings.namespaces.fixed) await this.cluster.requireNamespace(name, { signal });
      return undefined;
    } catch (error) {
      if (error instanceof StepFailed || error instanceof ExecutorUnreachable) return error.message;
      throw error;
    }
  }

  override async prepare(_: Assignment, { signal }: Step): Promise<void> {
    await this.cluster.ping({ signal });
  }

  rollOut(assignment: RevisionAssignment): RolloutSteps {
    return { deploy: (step) => this.deploy(assignment, step) };
  }

  async remove(assignment: Assignment, step: Step): Promise<void> {
    const namespace = presentNamespace(assignment, this.settings);
    if (namespace === undefined || (await this.isClosed(assignment, namespace, step))) return;
    await this.previews.end(assignment, step);
    await this.objects.remove(assignment, namespace, this.settings.look ?? 1000, step);
    this.ended.forget(assignment.deploymentId);
    await step.log('INFO', `Nothing of the deployment is left in the namespace ${namespace}.`);
  }

  override async control(assignment: RevisionAssignment, action: ControlAction, step: Step): Promise<void> {
    // What the operator does not allow any more is found out before anything is stopped.
    if (action === 'stop') namespaceOf(assignment, this.settings.namespaces);
    else placeOf(assignment, this.settings);
    if (action !== 'start') await this.halt(assignment, step);
    if (action !== 'stop') await this.deploy(assignment, step);
  }

  override async inspect(placed: Placed, signal: AbortSignal): Promise<readonly ProcessHealth[]> {
    const namespace = presentNamespace(placed, this.settings);
    if (namespace === undefined) return [];
    const query = { kind: 'Pod', namespace, labels: selector(placed) };
    const measuring = this.looking.list<Measured>({ ...query, apiVersion: 'metrics.k8s.io/v1beta1' }, { signal });
    // Not every cluster measures, or answers as expected.
    const measured = measuring.then(usagesOf).catch(() => usagesOf({ items: [] }));
    const pods = await this.pods(placed, namespace, signal);
    const usages = await measured;
    return pods.map(({ pod, ends }) => podHealth(pod, usages.get(pod.metadata?.name ?? ''), ends));
  }

  private async pods(placed: Placed, namespace: string, signal: AbortSignal): Promise<{ pod: V1Pod; ends: PodEnds }[]> {
    const query = { apiVersion: 'v1', kind: 'Pod', namespace, labels: selector(placed) };
    const { items } = await this.looking.list<V1Pod>(query, { signal });
    const ends = this.ended.look(placed.deploymentId, items, Date.now());
    return items.map((pod, index) => ({ pod, ends: ends[index]! }));
  }

  private async observe(assignment: RevisionAssignment, step: Step): Promise<Observation> {
    const place = placeOf(assignment, this.settings);
    const { namespace } = place;
    const { wanted } = await objectsOf(assignment, place, this.settings);
    const drift = await this.objects.differences(wanted, assignment, namespace, step);
    const trouble = await this.watch.trouble(wanted, assignment, namespace, step, this.ended);
    const pods = await this.pods(assignment, namespace, step.signal);
    return {
      drift,
      ...(trouble !== undefined && { trouble }),
      processes: pods.map(({ pod, ends }) => podHealth(pod, undefined, ends)),
      isRestarting: pods.some(({ ends }) => ends.isRestarting),
      hasRecovered: pods.some(({ ends }) => ends.hasRecovered),
    };
  }

  private async halt(assignment: Assignment, step: Step): Promise<void> {
    const namespace = presentNamespace(assignment, this.settings);
    // A revision that was refused for its namespace has left nothing there.
    if (namespace === undefined || !this.settings.namespaces.has(assignment.tenantId, namespace)) return;
    await this.previews.end(assignment, step);
    await this.objects.halt(assignment, namespace, step);
    await this.watch.halted(assignment, namespace, step);
  }

  private async deploy(assignment: RevisionAssignment, step: Step): Promise<void> {
    const place = placeOf(assignment, this.settings);
    const { namespace } = place;
    await this.cluster.requireNamespace(namespace, step);
    const secrets = await assignment.secrets();
    const { wanted, unwanted } = await objectsOf(assignment, place, this.settings, secrets);
    await this.objects.put(wanted, unwanted, assignment, step);
    const address = wanted.map(addressOf).find((known) => known !== undefined);
    if (address !== undefined) await step.log('INFO', `Its address is ${address}.`);
    await this.watch.settled(wanted, assignment, namespace, step);
    await this.objects.removeFormerRoutes(wanted, assignment, namespace, step);
    await this.objects.removeFormerSecrets(assignment, namespace, step);
  }

  /**
   * True when a namespace is closed to the workspace and to Fairlead, and no rollout has come there: then nothing of
   * the deployment is in it. Earlier versions did not record where rollouts came.
   */
  private async isClosed({ tenantId, place, ...owner }: Placed, namespace: string, step: Step): Promise<boolean> {
    if (place !== undefined || this.settings.namespaces.has(tenantId, namespace)) return false;
    const query = { apiVersion: 'apps/v1', kind: 'Deployment', namespace, labels: selector(owner) };
    try {
      await this.cluster.list(query, { signal: step.signal, patient: false });
      return false;
    } catch (error) {
      if (error instanceof ClusterRefused && error.status === 403) return true;
      throw error;
    }
  }
}

function usagesOf({ items }: { readonly items: readonly Measured[] }) {
  return new Map(items.map((pod) => [pod.metadata.name, usageOf(pod)]));
}

function usageOf({ containers }: Measured) {
  return {
    memory_bytes: Math.round(sumOf(containers.map(({ usage }) => usage.memory))),
    cpu_cores: sumOf(containers.map(({ usage }) => usage.cpu)),
  };
}
