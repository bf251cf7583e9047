import type { V1ContainerState, V1Pod } from '@kubernetes/client-node';
import type { ProcessHealth } from '../port/process-health.schema';
import { containersOf, EndedPods, endOf, type PodEnds } from './ended-pods';
import { ORDINARY } from './pod-troubles';

interface Usage {
  readonly memory_bytes: number | null;
  readonly cpu_cores: number | null;
}

/**
 * Health of a pod, as Kubernetes reports it. The messages that a program leaves when it ends are left out: nothing
 * hides secrets in them.
 */
export function podHealth(
  pod: V1Pod,
  usage?: Usage,
  { loop }: Pick<PodEnds, 'loop'> = new EndedPods().look('', [pod], Date.now())[0]!,
): ProcessHealth {
  const { metadata, status } = pod;
  const containers = containersOf(status);
  const isReady = status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
  const waits = containers.flatMap(({ name, state, lastState }) => waitingFor(name, state, lastState));
  const unplaced = status?.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
  const ends = containers.flatMap(({ name, lastState, state }) => ended(name, lastState ?? {}, state ?? {}));
  const hasFailed = waits.length > 0 || status?.phase === 'Failed';
  const running = isReady ? 'RUNNING' : hasFailed ? 'FAILED' : 'STARTING';
  const isLooping = loop !== undefined && status?.phase !== 'Failed';
  const why = isReady ? null : (waits[0] ?? unplaced?.message ?? status?.message ?? ends.at(-1) ?? null);
  return {
    name: metadata?.name ?? '',
    state: metadata?.deletionTimestamp ? 'STOPPING' : isLooping ? 'CRASH_LOOPING' : running,
    reason: isLooping ? loop : why,
    revision_id: metadata?.annotations?.['fairlead.dev/revision-id'] ?? null,
    restarts: containers.reduce((sum, { restartCount }) => sum + restartCount, 0),
    started_at: status?.startTime ? new Date(status.startTime).toISOString() : null,
    memory_bytes: usage?.memory_bytes ?? null,
    cpu_cores: usage?.cpu_cores ?? null,
    last_error: ends.at(-1) ?? null,
  };
}

/** Quantities of Kubernetes, such as `250m` or `64Mi`, added up. */
export function sumOf(quantities: readonly string[]): number {
  return quantities.reduce((sum, quantity) => {
    const [, number = '', unit = ''] = /^([\d.]+)(\w*)$/.exec(quantity) ?? [];
    return sum + Number(number) * (UNITS[unit] ?? NaN);
  }, 0);
}

const UNITS: Readonly<Record<string, number>> = {
  ...{ n: 1e-9, u: 1e-6, m: 1e-3, '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12 },
  ...{ Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3, Ti: 1024 ** 4 },
};

function waitingFor(
  name: string,
  state: V1ContainerState | undefined,
  lastState: V1ContainerState | undefined,
): string[] {
  const { reason, message } = state?.waiting ?? {};
  if (!reason || ORDINARY.includes(reason)) return [];
  // It is started again, and how it ended tells more.
  if (reason === 'CrashLoopBackOff' && lastState?.terminated) return [];
  return [`${name} waits: ${reason}${message ? `, ${message}` : ''}`];
}

function ended(name: string, ...states: readonly V1ContainerState[]): string[] {
  return states.flatMap(({ terminated }) => {
    return terminated && terminated.exitCode !== 0 ? [endOf(name, terminated)] : [];
  });
}
