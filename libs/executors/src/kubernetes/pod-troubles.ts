import type { CoreV1Event, V1ContainerStatus, V1Deployment, V1Pod } from '@kubernetes/client-node';

export interface Trouble {
  /** Kind of the trouble and the object that has it: the same for every pod, and for every look. */
  readonly key: string;
  readonly text: string;
  /**
   * True when it may pass while nobody does anything, as a lack of room does. An image that does not exist stays away.
   */
  readonly mends: boolean;
}

/** A container that waits for one of these is on its way. */
export const ORDINARY = ['ContainerCreating', 'PodInitializing'];
/** Events of a pod whose volumes are mounted. */
const OF_IMAGES = ['Pulling', 'Pulled'];
/** Events that repeat what conditions and containers say. */
const REPEATED = ['FailedScheduling', 'FailedMount', 'BackOff', 'Failed'];

/**
 * Obstacles of a Deployment, in the order in which pods come into being: the first is the cause of those after it.
 * `pods` and `events` are those of one revision.
 */
export function troublesOf(
  { status }: V1Deployment,
  pods: readonly V1Pod[],
  events: readonly CoreV1Event[],
): Trouble[] {
  const refused =
    status?.conditions?.filter(({ type, status }) => type === 'ReplicaFailure' && status === 'True') ?? [];
  const creating = refused.map(({ reason, message }): Trouble => {
    return { key: 'pods', text: sentence('Pods cannot be created', reason, message), mends: false };
  });
  const found = pods.map((pod) => troublesOfPod(pod, events));
  const steps = Math.max(0, ...found.map(({ length }) => length));
  return [...creating, ...Array.from({ length: steps }, (_, step) => found.flatMap((pod) => pod[step] ?? [])).flat()];
}

/** True when the events of the pod may tell more about it. */
export function isStuck({ status }: V1Pod): boolean {
  return !status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
}

/** The troubles of each step in the life of a pod: scheduling, volumes, containers, the rest. */
function troublesOfPod(pod: V1Pod, events: readonly CoreV1Event[]): Trouble[][] {
  const { metadata, status } = pod;
  const name = metadata?.name ?? '';
  const unscheduled = status?.conditions?.filter(({ type, status }) => type === 'PodScheduled' && status === 'False');
  const init = status?.initContainerStatuses ?? [];
  const main = status?.containerStatuses ?? [];
  const isStarting = [...init, ...main].some(({ state }) => ORDINARY.includes(state?.waiting?.reason ?? ''));
  const warnings = events.filter(({ type, involvedObject }) => {
    return type === 'Warning' && involvedObject.name === name && isStuck(pod);
  });
  const mounts =
    isStarting && !hasVolumes(pod, events) ? warnings.filter(({ reason }) => reason === 'FailedMount') : [];
  const others = warnings.filter(({ reason = '' }) => !REPEATED.includes(reason));
  const failed = status?.phase === 'Failed' && status.reason ? [status] : [];
  return [
    (unscheduled ?? []).map(({ reason, message }) => ({
      key: 'scheduling',
      text: sentence(`${name} cannot be scheduled`, reason, message),
      mends: !isMissing(message),
    })),
    mounts.map(({ message }) => ({
      key: 'volumes',
      text: sentence(`${name} cannot mount its volumes`, undefined, message),
      mends: !isMissing(message),
    })),
    [
      ...init.flatMap((container) => troublesOfContainer(name, container, true)),
      ...main.flatMap((container) => troublesOfContainer(name, container, false)),
      ...failed.map(({ reason, message }) => ({
        key: 'pod',
        text: sentence(`${name} has failed`, reason, message),
        mends: true,
      })),
    ],
    others.map(({ reason, message }) => ({
      key: `event ${reason}`,
      text: sentence(name, reason, message),
      mends: true,
    })),
  ];
}

/**
 * True when the volumes of a pod are mounted, whatever earlier events say: its sandbox exists, or an image of it was
 * asked for. Clusters before 1.29 do not report the sandbox.
 */
function hasVolumes({ metadata, status }: V1Pod, events: readonly CoreV1Event[]): boolean {
  const isReady = status?.conditions?.some(({ type, status }) => {
    return type === 'PodReadyToStartContainers' && status === 'True';
  });
  return (
    isReady === true ||
    events.some(({ reason = '', involvedObject }) => {
      return involvedObject.name === metadata?.name && OF_IMAGES.includes(reason);
    })
  );
}

function troublesOfContainer(
  pod: string,
  { name, state, lastState }: V1ContainerStatus,
  isInit: boolean,
): readonly Trouble[] {
  const { waiting, terminated } = state ?? {};
  if (isInit && terminated?.exitCode === 0) return [];
  const ended = terminated ?? lastState?.terminated;
  const isCrash = waiting?.reason === 'CrashLoopBackOff';
  if (waiting?.reason && !ORDINARY.includes(waiting.reason) && !(isCrash && ended)) {
    const { reason, message } = waiting;
    // Other reasons alternate: a command that does not exist is RunContainerError, then CrashLoopBackOff, and so on.
    const kind = reason.includes('Image') ? 'image' : 'does not run';
    return [{ key: `${name} ${kind}`, text: sentence(`${pod}/${name} waits`, reason, message), mends: false }];
  }
  if (!ended) return [];
  const { exitCode, reason, message } = ended;
  const text = sentence(
    `${pod}/${name} ended with exit code ${exitCode}`,
    reason === 'Error' ? undefined : reason,
    message,
  );
  return [{ key: `${name} does not run`, text, mends: false }];
}

function isMissing(message = ''): boolean {
  return /not found|non-existent|doesn't exist/.test(message);
}

function sentence(what: string, reason: string | undefined, message: string | undefined): string {
  const why = [reason, message?.trim()].filter(Boolean).join(', ');
  return why ? `${what}: ${why}` : what;
}
