import type { KubernetesObject, V1Deployment, V1ReplicaSet } from '@kubernetes/client-node';
import { type Call, ClusterClient, ClusterRefused } from './cluster.client';
import type { Assignment, RevisionAssignment, Step } from './executor';
import { type Named, NAMED_KINDS, objectName, secretName, selector, type Size, sizeUnderAutoscaler } from './manifests';

/** Field manager of the numbers of replicas that are not part of what is applied. */
const SCALER = 'fairlead-scale';

/** Puts the objects of deployments into a cluster, and takes them away. */
export class ObjectsClient {
  constructor(private readonly cluster: ClusterClient) {}

  /** Applies the objects of a revision. All of them belong to its first Deployment, and go with it. */
  async put(
    wanted: readonly Named[],
    unwanted: readonly Named[],
    assignment: RevisionAssignment,
    step: Step,
  ): Promise<void> {
    const call = callOf(step);
    // An autoscaler that is not wanted would change the number of replicas.
    for (const object of unwanted) await this.cluster.remove(object, call);
    const isOwner = ({ kind, metadata }: Named) => kind === 'Deployment' && metadata?.name === objectName(assignment);
    const owner = wanted.find(isOwner)!;
    let uid = (await this.cluster.read(owner, call))?.metadata?.uid;
    const early: Named[] = [];
    for (const object of wanted) {
      if (uid === undefined && !isOwner(object)) early.push(object);
      const applied = await this.apply(isOwner(object) ? object : owned(object, owner, uid), wanted, call);
      if (isOwner(object)) uid = applied.metadata?.uid;
      const { name, namespace } = object.metadata ?? {};
      await step.log('INFO', `${object.kind} ${name} is applied in the namespace ${namespace}.`);
    }
    for (const object of early) await this.apply(owned(object, owner, uid), wanted, call);
  }

  /** Reduces the replicas of a deployment to none. */
  async halt(assignment: Assignment, namespace: string, step: Step): Promise<void> {
    const call = callOf(step);
    for (const name of namesOf(assignment)) {
      const metadata = { name, namespace };
      await this.cluster.remove({ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata }, call);
      const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata };
      if (await this.cluster.read(deployment, call)) await this.scale(deployment, 0, call);
    }
  }

  /** Deletes the Secrets of revisions to which Kubernetes cannot return any more: no ReplicaSet uses them. */
  async removeFormerSecrets(assignment: RevisionAssignment, namespace: string, step: Step): Promise<void> {
    const call = { ...callOf(step), patient: false };
    const labels = selector(assignment);
    try {
      const query = { apiVersion: 'apps/v1', kind: 'ReplicaSet', namespace, labels };
      const { items } = await this.cluster.list<V1ReplicaSet>(query, call);
      const used = JSON.stringify(items.map(({ spec }) => spec?.template));
      const secrets = await this.secrets(assignment, namespace, call);
      const current = secretName(assignment);
      const former = secrets.filter(({ metadata: { name } }) => name !== current && !used.includes(`"${name}"`));
      for (const secret of former) await this.cluster.remove(secret, call);
    } catch (error) {
      if (!(error instanceof ClusterRefused)) throw error;
      await step.log('WARNING', `Secrets of former revisions stay: ${error.message}`);
    }
  }

  /** Deletes everything of a deployment. */
  async remove(assignment: Assignment, namespace: string, step: Step): Promise<void> {
    const call = callOf(step);
    const named = NAMED_KINDS.flatMap(({ apiVersion, kind }) =>
      namesOf(assignment).map((name) => ({ apiVersion, kind, metadata: { name, namespace } })),
    );
    // Without the right to list Secrets, those go with the Deployment to which they belong.
    const secrets = await this.secrets(assignment, namespace, call).catch(noneIfRefused);
    for (const object of [...named, ...secrets]) await this.cluster.remove(object, call);
  }

  private async secrets(assignment: Assignment, namespace: string, call: Call) {
    const query = { apiVersion: 'v1', kind: 'Secret', namespace, labels: selector(assignment) };
    const { items } = await this.cluster.list(query, { ...call, patient: false });
    return items.map(({ metadata: { name = '' } = {} }) => {
      return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace } };
    });
  }

  private async apply(object: Named, wanted: readonly Named[], call: Call): Promise<KubernetesObject> {
    const size = object.kind === 'Deployment' ? sizeUnderAutoscaler(wanted, object.metadata?.name) : undefined;
    return size ? this.applyKeepingSize(object, size, call) : this.cluster.apply(object, call);
  }

  /**
   * Applies a Deployment whose number of replicas its autoscaler decides. The number stays as it is within the limits:
   * it belongs to another field manager before the one that applies leaves it out, or it would become 1.
   */
  private async applyKeepingSize(object: Named, { least, most }: Size, call: Call): Promise<KubernetesObject> {
    const current = (await this.cluster.read<V1Deployment>(object, call))?.spec?.replicas;
    if (current !== undefined) await this.scale(object, Math.min(Math.max(current, least), most), call);
    const applied = await this.cluster.apply(object, call);
    if (current === undefined) await this.scale(object, least, call);
    return applied;
  }

  private async scale({ apiVersion, kind, metadata }: KubernetesObject, replicas: number, call: Call): Promise<void> {
    const { name, namespace } = metadata ?? {};
    const sized: Named = { apiVersion, kind, metadata: { name, namespace }, spec: { replicas } };
    await this.cluster.apply(sized, call, false, SCALER);
  }
}

function noneIfRefused(error: unknown): [] {
  if (error instanceof ClusterRefused) return [];
  throw error;
}

/** The object as one of the Deployment, when that exists. */
function owned(object: Named, { apiVersion = '', kind = '', metadata }: Named, uid: string | undefined): Named {
  if (uid === undefined) return object;
  const ownerReferences = [{ apiVersion, kind, name: metadata?.name ?? '', uid }];
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
}

/** Names of the Deployments of a deployment, and of what goes with each. */
function namesOf(assignment: Assignment): string[] {
  return [objectName(assignment), `${objectName(assignment)}-queue`];
}

function callOf({ signal, log }: Step): Call {
  return { signal, warn: (text) => log('WARNING', `The cluster warns: ${text}`) };
}
