import type { RunChange } from './run-change';

/** Bytes that ids, times and numbers of a run take, about. */
const FIXED_BYTES = 200;

/** Number of bytes that runs, or changes of runs, count of those that their workspace stores: those of their texts. */
export function bytesOfRuns(runs: readonly RunChange[]): number {
  let bytes = 0;
  for (const run of runs) {
    bytes += FIXED_BYTES;
    for (const member of Object.values(run)) if (typeof member === 'string') bytes += Buffer.byteLength(member);
  }
  return bytes;
}
