import type { CoreV1Event, V1Deployment, V1Pod } from '@kubernetes/client-node';
import { TimeLimit } from '@fairlead/schema';
import { type EndedPods, withoutPastEnds } from './ended-pods';
import { ClusterClient, ClusterRefused } from './cluster.client';
import { ClusterFollower } from './cluster-follower';
import { type Assignment, type RevisionAssignment, type Step, StepFailed } from '../port/executor';
import { selector } from './labels';
import { leastReplicas, type Named, REVISION_ANNOTATION } from './manifests';
import { isStuck } from './pod-troubles';
import { Progress } from './progress';

/** Pods whose events are read at a look: the pods of one revision seldom have different reasons. */
const PODS_ASKED = 3;
/** Looks at what runs, before it is in trouble: replicas come and go. */
const LOOKS_AT_RUNNING = 10;
/** Shortest time that a cluster has to tell how it runs, however often it is looked at (ms). */
const LEAST_MS = 2000;

/** Waits for what a cluster makes of the objects that were applied. */
export class RolloutWatch {
  private readonly follower: ClusterFollower;

  /** @param look Milliseconds between two looks at the latest, by which all patience is measured. */
  constructor(
    private readonly cluster: ClusterClient,
    private readonly look: number,
  ) {
    this.follower = new ClusterFollower(cluster, look);
  }

  /**
   * Waits until all replicas run the revision, and go on running.
   * @throws StepFailed with the first cause when they will not, or when the step ends before they do
   */
  async settled(
    objects: readonly Named[],
    assignment: RevisionAssignment,
    namespace: string,
    step: Step,
  ): Promise<void> {
    await this.until('isDone', objects, assignment, namespace, step);
  }

  /**
   * Why a revision that was deployed does not run as it should; undefined when it does. Messages of programs are left out,
   * because no secret is known here that could be hidden in them.
   */
  async trouble(
    objects: readonly Named[],
    assignment: RevisionAssignment,
    namespace: string,
    step: Step,
    ended: EndedPods,
  ): Promise<string | undefined> {
    const limit = new TimeLimit(Math.max(LOOKS_AT_RUNNING * this.look, LEAST_MS), step.signal);
    const { signal } = limit;
    try {
      const quiet = { ...step, signal, log: async () => undefined };
      await this.until('isServing', objects, assignment, namespace, quiet, (pods) => {
        const ends = ended.look(assignment.deploymentId, pods, Date.now());
        return pods.map((pod, index) => withoutPastEnds(pod, ends[index]!));
      });
      return undefined;
    } catch (error) {
      step.signal.throwIfAborted();
      if (error instanceof StepFailed) return error.message;
      // There is nothing that could tell, or it has not been looked at yet.
      if (signal.aborted) return 'The cluster does not tell how it runs.';
      throw error;
    } finally {
      limit.end();
    }
  }

  private async until(
    state: 'isDone' | 'isServing',
    objects: readonly Named[],
    assignment: RevisionAssignment,
    namespace: string,
    step: Step,
    shown = (pods: readonly V1Pod[]) => pods,
  ): Promise<void> {
    const { look } = this;
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
    let counts: string | undefined;
    try {
      for await (const [deployments = [], pods = []] of this.follower.follow(queries, step)) {
        const present = shown(pods).filter((pod) => runs(pod, assignment));
        const events = await this.eventsOf(present, namespace, step);
        const found = followed.map(({ name, progress }) => {
          const deployment = deployments.find(({ metadata }) => metadata?.name === name) ?? {};
          return progress.look(
            deployment,
            present.filter((pod) => isOf(pod, deployment)),
            events,
            Date.now(),
          );
        });
        for (const line of found.flatMap(({ lines }) => lines)) {
          if (!told.has(line)) await step.log('INFO', line);
          told.add(line);
        }
        const missing = found.find((one) => !one[state]);
        if (!missing) return;
        counts = missing.lines[0];
        await step.waits();
      }
    } catch (error) {
      const cause = followed.map(({ progress }) => progress.cause).find((known) => known !== undefined) ?? counts;
      if (step.signal.aborted && cause !== undefined) throw new StepFailed(cause, { cause: error });
      throw error;
    }
  }

  async halted(assignment: Assignment, namespace: string, step: Step): Promise<void> {
    await step.waits();
    const query = { apiVersion: 'apps/v1', kind: 'Deployment', namespace, labels: selector(assignment) };
    for await (const [deployments = []] of this.follower.follow([query], step)) {
      const isHalted = ({ metadata, status }: V1Deployment) =>
        (status?.observedGeneration ?? -1) >= (metadata?.generation ?? 0) && !status?.replicas;
      if (deployments.every(isHalted)) return;
    }
  }

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
}

function runs({ metadata }: V1Pod, { revision }: RevisionAssignment): boolean {
  return metadata?.annotations?.[REVISION_ANNOTATION] === revision.revision_id;
}

function isOf({ metadata }: V1Pod, { spec }: V1Deployment): boolean {
  return Object.entries(spec?.selector.matchLabels ?? {}).every(
    ([label, value]) => metadata?.labels?.[label] === value,
  );
}

/** Without the right to read events, the statuses have to do. */
function unlessForbidden(error: unknown): { items: CoreV1Event[] } {
  if (error instanceof ClusterRefused && error.status === 403) return { items: [] };
  throw error;
}
