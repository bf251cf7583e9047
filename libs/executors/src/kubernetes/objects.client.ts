import type { KubernetesObject, V1Deployment, V1ObjectMeta, V1ReplicaSet } from '@kubernetes/client-node';
import { setTimeout as pause } from 'node:timers/promises';
import { ROUTE_KINDS } from './additions';
import { type Call, ClusterClient, ClusterRefused } from './cluster.client';
import { type Assignment, type Placed, type RevisionAssignment, type Step, StepFailed } from '../port/executor';
import { previewSelector, selector } from './labels';
import { type Named, NAMED_KINDS, objectName, secretName, type Size, sizeUnderAutoscaler } from './manifests';

/** Field manager of the numbers of replicas that are not part of what is applied. */
const SCALER = 'fairlead-scale';

/** Differences, and objects that are left, in one sentence. */
const MOST_DIFFERENCES = 20;
/** Looks at objects that were deleted, before it is said that they are still there. */
const LOOKS_AT_REMOVAL = 60;

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

  async halt(assignment: Assignment, namespace: string, step: Step): Promise<void> {
    const call = callOf(step);
    for (const name of namesOf(assignment)) {
      const metadata = { name, namespace };
      const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata };
      // Where nothing has been applied, nothing is changed: the namespace may be one that the workspace may not use.
      if (!(await this.cluster.read(deployment, call))) continue;
      await this.cluster.remove({ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata }, call);
      await this.scale(deployment, 0, call);
    }
  }

  /** Deletes the Deployments of all held revisions of a deployment, and with each one all that belongs to it. */
  async removePreviews(assignment: Assignment, namespace: string, step: Step): Promise<void> {
    const call = callOf(step);
    for (const deployment of await this.previews(assignment, namespace, call)) {
      await this.cluster.remove(deployment, call);
    }
  }

  /** The Deployments of held revisions of a deployment that are not being deleted. */
  async previews(placed: Placed, namespace: string, call: Call): Promise<V1Deployment[]> {
    const labels = previewSelector(placed);
    const query = { apiVersion: 'apps/v1', kind: 'Deployment', namespace, labels };
    const { items } = await this.cluster.list<V1Deployment>(query, call);
    return items
      .filter(({ metadata }) => metadata?.deletionTimestamp === undefined)
      .map((item) => ({ ...item, apiVersion: 'apps/v1', kind: 'Deployment' }));
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

  /**
   * Deletes the Ingress or HTTPRoute of this deployment that an earlier KUBERNETES_ROUTE asked for. A kind that this
   * account may not read is left out, so that the Role without routes is enough.
   */
  async removeFormerRoutes(
    wanted: readonly Named[],
    assignment: RevisionAssignment,
    namespace: string,
    step: Step,
  ): Promise<void> {
    const call = { ...callOf(step), patient: false };
    const name = objectName(assignment);
    for (const { apiVersion, kind } of ROUTE_KINDS) {
      if (wanted.some((object) => object.kind === kind)) continue;
      const route = { apiVersion, kind, metadata: { name, namespace } };
      const there = await this.cluster.read(route, call).catch(unlessRefused);
      const labels = Object.entries(selector(assignment));
      if (!there || labels.some(([label, value]) => there.metadata?.labels?.[label] !== value)) continue;
      try {
        await this.cluster.remove(route, call);
        await step.log('INFO', `${kind} ${name} is deleted, because KUBERNETES_ROUTE no longer asks for it.`);
      } catch (error) {
        if (!(error instanceof ClusterRefused)) throw error;
        await step.log(
          'WARNING',
          `${kind} ${name} stays, although KUBERNETES_ROUTE no longer asks for it: ${error.message}`,
        );
      }
    }
  }

  /** Differences between the objects in the cluster and the result of applying them again. */
  async differences(
    wanted: readonly Named[],
    assignment: RevisionAssignment,
    namespace: string,
    step: Step,
  ): Promise<string[]> {
    const call = callOf(step);
    const found: string[] = [];
    for (const object of wanted) {
      const what = `${object.kind} ${object.metadata?.name}`;
      if (object.kind === 'Secret') {
        // It cannot be changed. Without the right to list Secrets, it is not looked for.
        const secrets = await this.secrets(assignment, namespace, call).catch(unlessRefused);
        const isGone = secrets?.every(({ metadata }) => metadata.name !== object.metadata?.name);
        if (isGone) found.push(`${what} is gone`);
        continue;
      }
      const there = await this.found(object, call);
      if (there === 'unseen') continue;
      const again = (await this.cluster.apply(object, call, true)) as Named;
      const paths = there ? differing(there.spec, again.spec, 'spec') : [];
      found.push(...(there ? paths.map((path) => `${path} of ${what}`) : [`${what} is gone`]));
    }
    return found.slice(0, MOST_DIFFERENCES);
  }

  /** Deletes everything of a deployment, and waits until it is gone. @throws StepFailed saying what is not */
  async remove(assignment: Assignment, namespace: string, look: number, step: Step): Promise<void> {
    const call = callOf(step);
    const named = NAMED_KINDS.flatMap(({ apiVersion, kind }) =>
      namesOf(assignment).map((name) => ({ apiVersion, kind, metadata: { name, namespace } })),
    );
    // Without the right to list Secrets, those go with the Deployment to which they belong.
    const secrets = (await this.secrets(assignment, namespace, call).catch(unlessRefused)) ?? [];
    let left: readonly KubernetesObject[] = [...named, ...secrets];
    for (let looks = 0; looks < LOOKS_AT_REMOVAL; looks++) {
      const there: KubernetesObject[] = [];
      for (const object of left) if (await this.cluster.remove(object, call)) there.push(object);
      const items: KubernetesObject[] = [];
      for (const labels of [selector(assignment), previewSelector(assignment)]) {
        items.push(...(await this.cluster.list({ apiVersion: 'v1', kind: 'Pod', namespace, labels }, call)).items);
      }
      if (there.length + items.length === 0) return;
      if (looks === 1) await step.waits();
      left = there;
      if (looks === LOOKS_AT_REMOVAL - 1) throw new StepFailed(await this.whatIsLeft(there, items, call));
      await pause(look, undefined, step);
    }
  }

  /** An object as it is; undefined when there is none. What this account may not read is left alone. */
  private async found(object: Named, call: Call): Promise<Named | undefined | 'unseen'> {
    try {
      return await this.cluster.read<Named>(object, { ...call, patient: false });
    } catch (error) {
      if (error instanceof ClusterRefused) return 'unseen';
      throw error;
    }
  }

  private async whatIsLeft(
    objects: readonly KubernetesObject[],
    pods: readonly KubernetesObject[],
    call: Call,
  ): Promise<string> {
    const texts = pods.map(({ metadata }) => textOf('Pod', metadata));
    for (const object of objects) {
      const there = await this.cluster.read(object, { ...call, patient: false }).catch(unlessRefused);
      texts.push(textOf(object.kind, there?.metadata ?? object.metadata));
    }
    return `The cluster has not deleted ${texts.slice(0, MOST_DIFFERENCES).join(', ')}.`;
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

function unlessRefused(error: unknown): undefined {
  if (!(error instanceof ClusterRefused)) throw error;
}

function textOf(kind = '', { name, finalizers = [] }: V1ObjectMeta = {}): string {
  return `${kind} ${name}${finalizers.length > 0 ? ` (finalizers: ${finalizers.join(', ')})` : ''}`;
}

function differing(one: unknown, other: unknown, path: string): string[] {
  if (!isObject(one) || !isObject(other) || Array.isArray(one) !== Array.isArray(other)) {
    return one === other ? [] : [path];
  }
  const members = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return members.flatMap((member) => {
    return differing(one[member], other[member], Array.isArray(one) ? `${path}[${member}]` : `${path}.${member}`);
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function owned(object: Named, { apiVersion = '', kind = '', metadata }: Named, uid: string | undefined): Named {
  if (uid === undefined) return object;
  const ownerReferences = [{ apiVersion, kind, name: metadata?.name ?? '', uid }];
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
}

function namesOf(assignment: Assignment): string[] {
  return [objectName(assignment), `${objectName(assignment)}-queue`];
}

function callOf({ signal, log, waits }: Step): Call {
  return { signal, waits, warn: (text) => log('WARNING', `The cluster warns: ${text}`) };
}
