import type { V1Deployment } from '@kubernetes/client-node';
import { spelledAddress } from '@fairlead/contracts';
import { OUR_PREFIX } from '@fairlead/schema';
import {
  type Assignment,
  type Placed,
  type PreviewAssignment,
  type Previews,
  type Step,
  StepFailed,
} from '../port/executor';
import { type AdditionsSettings, objectsOf } from './additions';
import type { Through } from '../local/forwarding/app-headers.client';
import type { ClusterClient } from './cluster.client';
import { previewSelector, REVISION_LABEL } from './labels';
import type { ObjectsClient } from './objects.client';
import { placeOf, type PlaceSettings, presentNamespace } from './place';
import { previewSpec } from './preview-spec';
import type { RolloutWatch } from './rollout-watch';

interface Clients {
  readonly cluster: ClusterClient;
  /** For those who wait for an answer themselves. */
  readonly looking: ClusterClient;
  readonly objects: ObjectsClient;
  readonly watch: RolloutWatch;
}

/**
 * Lets held revisions run in a cluster, each as a Deployment and a Service beside the objects of its deployment. What runs
 * is found by its labels, whoever began it: after a restart it goes on, or ends.
 */
export class ClusterPreviews implements Previews {
  /** Revisions that this process has let run, by deployment; `failed`: those with which nothing more is tried. */
  private readonly begun = new Map<string, { readonly revisionId: string; readonly failed?: true }>();

  constructor(
    private readonly settings: PlaceSettings & AdditionsSettings,
    private readonly clients: Clients,
  ) {}

  /** Applies the revision and waits until it is ready. */
  async begin(assignment: PreviewAssignment, step: Step): Promise<string> {
    const { deploymentId } = assignment;
    const { revision_id: revisionId } = assignment.revision;
    this.begun.delete(deploymentId);
    await this.apply({ ...assignment, revision: previewSpec(assignment) }, step);
    this.begun.set(deploymentId, { revisionId });
    return pathOf(assignment, revisionId);
  }

  giveUp(deploymentId: string, revisionId: string): void {
    this.begun.set(deploymentId, { revisionId, failed: true });
  }

  private async apply(assignment: PreviewAssignment, step: Step): Promise<void> {
    const { cluster, objects, watch } = this.clients;
    const place = placeOf(assignment, this.settings);
    await cluster.requireNamespace(place.namespace, step);
    const { wanted, unwanted } = await objectsOf(assignment, place, this.settings, await assignment.secrets());
    await objects.put(wanted, unwanted, assignment, step);
    await watch.settled(wanted, assignment, place.namespace, step);
  }

  /** Deletes what runs; the cluster ends its pods a little later. */
  async end(assignment: Assignment, step: Step): Promise<void> {
    const namespace = presentNamespace(assignment, this.settings);
    if (namespace !== undefined) await this.clients.objects.removePreviews(assignment, namespace, step);
    this.begun.delete(assignment.deploymentId);
  }

  async revisionOf(placed: Placed, held: string | undefined, signal: AbortSignal): Promise<string | undefined> {
    const namespace = presentNamespace(placed, this.settings);
    if (namespace === undefined) return undefined;
    const found = await this.clients.objects.previews(placed, namespace, { signal, patient: false });
    const ids = found.map(({ metadata }) => metadata?.labels?.[REVISION_LABEL] ?? '');
    const other = ids.find((id) => id !== held);
    if (other !== undefined) return other;
    const { revisionId, failed } = this.begun.get(placed.deploymentId) ?? {};
    return revisionId === held && (failed || ids.length > 0) ? held : undefined;
  }

  async pathOf(placed: Placed, revisionId: string): Promise<string | undefined> {
    const ready = await this.ready(placed, revisionId, new AbortController().signal).catch(() => undefined);
    return ready && pathOf(placed, revisionId);
  }

  /** Opens a connection for one request to a revision. @throws StepFailed, ExecutorUnreachable */
  async connect(placed: Placed, revisionId: string, signal: AbortSignal): Promise<Through> {
    const found = await this.ready(placed, revisionId, signal);
    if (!found) throw new StepFailed('It is not ready.');
    return this.clients.looking.connect(found.name, found.namespace, 'http', { signal });
  }

  /** The name of the objects of a revision with a pod that is ready; undefined when it has none. */
  private async ready(placed: Placed, revisionId: string, signal: AbortSignal) {
    const namespace = presentNamespace(placed, this.settings);
    if (namespace === undefined) return undefined;
    const name = `${OUR_PREFIX}${revisionId}`;
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace } };
    const found = await this.clients.looking.read<V1Deployment>(deployment, { signal });
    const isOurs = Object.entries(previewSelector(placed)).every(([label, value]) => {
      return found?.metadata?.labels?.[label] === value;
    });
    return isOurs && found?.status?.readyReplicas ? { name, namespace } : undefined;
  }
}

function pathOf({ deploymentId, name }: Pick<Placed, 'deploymentId' | 'name'>, revisionId: string): string {
  return `/apps/${spelledAddress(name) || deploymentId}@${revisionId}`;
}
