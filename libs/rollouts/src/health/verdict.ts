import type { Deployed } from '../rollout/target';
import { crashLoops, type ProcessHealth } from '@fairlead/executors';
import type { DeploymentHealth } from './health.schema';

type Verdict = Pick<DeploymentHealth, 'state' | 'detail'>;

/** The executor of this process, as far as a verdict depends on it. */
interface Knowing {
  readonly name: string;
  /** True when the executor can look at the running program. */
  readonly looks: boolean;
}

/** The verdict on a deployment that needs no look at what runs; undefined when the executor has to look. */
export function verdictUnseen(target: Deployed, { name, looks }: Knowing): Verdict | undefined {
  const { active_revision_id, executor, running } = target;
  if (active_revision_id === null) {
    if (!running) return { state: 'NOT_DEPLOYED', detail: 'No revision has been deployed.' };
    return looks ? undefined : { state: 'STARTING', detail: 'The first revision is being rolled out.' };
  }
  if (executor === 'record') return { state: 'RECORDED', detail: 'Recorded, nothing is run.' };
  if (executor === undefined) return unknown('An earlier version deployed it and did not record by which executor.');
  if (executor !== name) {
    return unknown(`The executor ${executor} deployed it, and this server has the executor ${name}.`);
  }
  return looks ? undefined : unknown(`The executor ${name} does not know what its commands have started.`);
}

/** Facts about a deployment beside its processes. */
interface Circumstances {
  readonly isStopped?: boolean;
  readonly sleeps?: boolean;
  /** The condition that its first revision waits for, in one sentence. */
  readonly awaited?: string;
  /** The crash loop that was told and is not over yet, in words. */
  readonly crashLoop?: string;
}

/** The verdict on a deployment of which these processes run. */
export function verdictOn(
  processes: readonly ProcessHealth[],
  { isStopped = false, sleeps = false, awaited, crashLoop }: Circumstances = {},
): Verdict {
  const all = processes.filter(({ state }) => state !== 'STOPPING');
  const ready = all.filter(({ state }) => state === 'RUNNING').length;
  const failed = all.find(({ state }) => state === 'FAILED');
  const troubled = failed ?? all.find(({ reason }) => reason !== null);
  const why = troubled?.reason ?? troubled?.last_error;
  const because = why ? `: ${why}` : '.';
  if (all.length === 0 && isStopped) return { state: 'STOPPED', detail: 'Somebody has stopped it.' };
  if (all.length === 0 && awaited !== undefined) return { state: 'STARTING', detail: awaited };
  if (all.length === 0) {
    return { state: 'IDLE', detail: sleeps ? 'It sleeps until the next request.' : 'Nothing runs now.' };
  }
  if (ready === all.length) return { state: 'RUNNING', detail: `${counted(ready)} running.` };
  if (ready > 0) return { state: 'DEGRADED', detail: `${ready} of ${counted(all.length)} ready${because}` };
  const states = all.map(({ state }) => state);
  if (crashLoops(crashLoop !== undefined, states, false)) {
    const loop = all.find(({ state }) => state === 'CRASH_LOOPING')?.reason ?? crashLoop;
    return { state: 'CRASH_LOOPING', detail: loop ?? '' };
  }
  if (all.some(({ state }) => state === 'UNRESPONSIVE')) {
    return { state: 'DEGRADED', detail: `No process answers${because}` };
  }
  if (failed) return { state: 'FAILED', detail: `No process is ready${because}` };
  return { state: 'STARTING', detail: `No process is ready yet${because}` };
}

/** The verdict on a deployment of which nobody can tell how it runs. */
export function unknown(detail: string): Verdict {
  return { state: 'UNKNOWN', detail };
}

function counted(processes: number): string {
  return processes === 1 ? '1 process is' : `${processes} processes are`;
}
