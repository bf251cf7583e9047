import type { V1ContainerState, V1ContainerStateTerminated, V1ContainerStatus, V1Pod } from '@kubernetes/client-node';
import { crashLoopText, ENDS_OF_LOOP, RECOVERED_MS, STEADY_MS } from '../port/crash-loop';

export interface PodEnds {
  readonly looping: ReadonlySet<string>;
  readonly loop?: string;
  /** True when a container has ended within the last minute and is not ready since: it may be a crash loop soon. */
  readonly isRestarting: boolean;
  /** True when all its containers are ready, and have run for so long that a crash loop before is over. */
  readonly hasRecovered: boolean;
}

interface Known {
  /** Ends before the row of now. */
  readonly before: number;
  /** The run that was seen last, counted from 0, and whether it was ever seen to be ready. */
  readonly run?: { readonly number: number; readonly wasReady: boolean };
}

/** Ends of a container in a row, by the rule of the executor `local`: a run of a minute ends the row. */
interface Row {
  readonly name: string;
  readonly count: number;
  readonly last: V1ContainerStateTerminated;
  readonly isReady: boolean;
}

/**
 * Counts how often the containers of deployments have ended in a row. Kubernetes tells how often a container has ended and
 * how long the last run was: a row that began before the first look can be counted too long.
 */
export class EndedPods {
  private readonly known = new Map<string, ReadonlyMap<string, Known>>();

  /** Takes the pods of a deployment as they are at `now` (ms since 1970); those that are gone are forgotten. */
  look(deploymentId: string, pods: readonly V1Pod[], now: number): PodEnds[] {
    const before = this.known.get(deploymentId);
    const after = new Map<string, Known>();
    const found = pods.map(({ metadata, status }) => {
      const rows = containersOf(status).flatMap((container) => {
        const key = `${metadata?.uid ?? metadata?.name}/${container.name}`;
        const { known, row } = rowOf(container, before?.get(key), now);
        if (known) after.set(key, known);
        return row ?? [];
      });
      const lasting = status?.containerStatuses ?? [];
      return { ...endsOf(rows, now), hasRecovered: lasting.length > 0 && lasting.every((one) => isLasting(one, now)) };
    });
    if (after.size > 0) this.known.set(deploymentId, after);
    else this.known.delete(deploymentId);
    return found;
  }

  forget(deploymentId: string): void {
    this.known.delete(deploymentId);
  }
}

/** Returns in words how a container has ended, without its message, in which a secret can stand. */
export function endOf(name: string, { reason, exitCode }: V1ContainerStateTerminated): string {
  return `${name} ended: ${reason ?? 'Error'}, exit code ${exitCode}`;
}

/** A pod of which nothing is told but what keeps it from running: no end that is over, and no message of a program. */
export function withoutPastEnds(pod: V1Pod, { looping }: PodEnds): V1Pod {
  return withContainers(pod, (container) => {
    const { name, state, lastState } = container;
    const isPast = state?.running !== undefined && !looping.has(name);
    return { ...container, state: withoutMessage(state), lastState: isPast ? undefined : withoutMessage(lastState) };
  });
}

export function withContainers(
  { status, ...pod }: V1Pod,
  change: (one: V1ContainerStatus) => V1ContainerStatus,
): V1Pod {
  const containerStatuses = status?.containerStatuses?.map(change);
  const initContainerStatuses = status?.initContainerStatuses?.map(change);
  return { ...pod, status: { ...status, containerStatuses, initContainerStatuses } };
}

export function containersOf(status: V1Pod['status']): V1ContainerStatus[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}

function withoutMessage(state: V1ContainerState | undefined): V1ContainerState | undefined {
  return state?.terminated ? { ...state, terminated: { ...state.terminated, message: undefined } } : state;
}

function isLasting({ ready, state }: V1ContainerStatus, now: number): boolean {
  return ready && state?.running !== undefined && now - msOf(state.running.startedAt) >= RECOVERED_MS;
}

function endsOf(rows: readonly Row[], now: number): Omit<PodEnds, 'hasRecovered'> {
  const loops = rows.filter(({ count }) => count >= ENDS_OF_LOOP);
  const isRecent = ({ last, isReady }: Row) => !isReady && now - msOf(last.finishedAt) < STEADY_MS;
  const [first] = loops;
  return {
    looping: new Set(loops.map(({ name }) => name)),
    ...(first && { loop: crashLoopText(first.count, endOf(first.name, first.last)) }),
    isRestarting: loops.length === 0 && rows.some(isRecent),
  };
}

function rowOf(
  { name, state, lastState, ready, restartCount = 0 }: V1ContainerStatus,
  seen: Known | undefined,
  now: number,
): { readonly known?: Known; readonly row?: Row } {
  const { running, terminated } = state ?? {};
  const last = terminated ?? lastState?.terminated;
  // An init container that is done.
  if (terminated?.exitCode === 0 && ready) return {};
  const ends = restartCount + (running || !last ? 0 : 1);
  const before = seen && seen.before <= ends ? seen.before : 0;
  const wasReady = (number: number, other: boolean) => (seen?.run?.number === number ? seen.run.wasReady : other);
  const run = running ? { number: restartCount, wasReady: ready || wasReady(restartCount, false) } : seen?.run;
  if (running && ready && now - msOf(running.startedAt) >= STEADY_MS) return { known: { before: ends, run } };
  if (ends === 0 || !last) return { ...(run && { known: { before: 0, run } }) };
  const ranLong = msOf(last.finishedAt) - msOf(last.startedAt) >= STEADY_MS && wasReady(ends - 1, true);
  const known = { before: ranLong ? Math.max(before, ends - 1) : before, run };
  const count = ends - known.before;
  return { known, ...(count > 0 && { row: { name, count, last, isReady: running !== undefined && ready } }) };
}

/** Milliseconds since 1970; NaN when the time is not known. The API tells times as text. */
function msOf(time: Date | string | undefined): number {
  return time === undefined ? NaN : new Date(time).getTime();
}
