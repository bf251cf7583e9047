import type { ProcessHealth } from './process-health.schema';

/** Ends in a row after which a process crash loops, whatever runs it. */
export const ENDS_OF_LOOP = 3;
/** Time for which a process has to run until it no longer crash loops (ms). */
export const STEADY_MS = 60_000;
/** Time for which a process has to run until the crash loop of its deployment is over (ms): Kubernetes forgets its back-off then. */
export const RECOVERED_MS = 10 * STEADY_MS;

/**
 * Returns whether a deployment crash loops: from the moment when all its processes do, until one has run for so long that
 * it `hasRecovered`, or none is started again. `was`: it did at the last look. What happens in between changes nothing: a
 * program that runs for a few minutes and ends again would be told for ever.
 */
export function crashLoops(was: boolean, processes: readonly ProcessHealth['state'][], hasRecovered: boolean): boolean {
  const present = processes.filter((state) => state !== 'STOPPING');
  if (present.every((state) => state === 'FAILED')) return false;
  return was ? !hasRecovered : present.every((state) => state === 'CRASH_LOOPING');
}

/** A crash loop in words; `ends`: ends in a row, `last`: the last line of the program, or how it ended. */
export function crashLoopText(ends: number, last: string): string {
  return `Crash looping, ${ends} restarts, ${last}`;
}
