import type { KubernetesObject, V1Deployment } from '@kubernetes/client-node';
import { type Call, ClusterClient, type ClusterSettings } from './cluster.client';
import {
  type Assignment,
  Executor,
  type RevisionAssignment,
  type RolloutSteps,
  type Step,
  StepFailed,
  type Upkeep,
} from './executor';
import { manifests, NAMED_KINDS, objectName, type Size, sizeUnderAutoscaler } from './manifests';
import { RolloutWatch } from './rollout.watch';

/** Field manager of numbers of replicas that autoscalers take over. */
const SCALER = 'fairlead-scale';

interface KubernetesSettings extends ClusterSettings {
  /** For deployments whose listener_config names none. */
  readonly namespace: string;
  /** HTTP path at which agents answer when they are ready; their port is tried when absent. */
  readonly healthPath?: string;
  /** Milliseconds after which a rollout is looked at although the cluster told of no change. Patience is counted in looks. */
  readonly look?: number;
}

/** Applies each revision to a Kubernetes cluster and watches until it is ready. It builds nothing: images only. */
export class KubernetesExecutor extends Executor {
  readonly name = 'kubernetes';
  override readonly upkeep: Upkeep = {
    restore: (assignment, step) => this.deploy(assignment, step),
    halt: (assignment, step) => this.halt(assignment, step),
  };
  private readonly cluster: ClusterClient;
  private readonly watch: RolloutWatch;

  constructor(private readonly settings: KubernetesSettings) {
    super();
    this.cluster = new ClusterClient(settings);
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
    for (const { apiVersion, kind } of NAMED_KINDS) {
      for (const name of namesOf(assignment)) {
        await this.cluster.remove({ apiVersion, kind, metadata: { name, namespace } }, callOf(step));
      }
    }
    await step.log('INFO', `Nothing of the deployment is left in the namespace ${namespace}.`);
  }

  private async halt(assignment: Assignment, step: Step): Promise<void> {
    const namespace = this.namespaceOf(assignment);
    const call = callOf(step);
    for (const name of namesOf(assignment)) {
      const metadata = { name, namespace };
      await this.cluster.remove({ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata }, call);
      const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata };
      if (!(await this.cluster.read(deployment, call))) continue;
      await this.cluster.apply({ ...deployment, spec: { replicas: 0 } } as KubernetesObject, call, false, SCALER);
    }
    await this.watch.halted(assignment, namespace, step);
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
    await this.watch.settled(wanted, assignment, namespace, step);
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

  private namespaceOf({ config }: Assignment): string {
    return config.listener_config?.cluster_namespace ?? this.settings.namespace;
  }
}

/** Names of the Deployments of a deployment, and of what goes with each. */
function namesOf(assignment: Assignment): string[] {
  return [objectName(assignment), `${objectName(assignment)}-queue`];
}

function callOf({ signal, log }: Step): Call {
  return { signal, warn: (text) => log('WARNING', `The cluster warns: ${text}`) };
}
