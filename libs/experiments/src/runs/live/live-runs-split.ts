import { setImmediate as otherRequests } from 'node:timers/promises';
import { appendedBytes, AppendTooLarge, MAX_APPEND_BYTES, type Metadata } from '@fairlead/eventing';
import type { RunChange, RunsReceived } from '../../sessions/experiment';

/** Bytes that are measured in one turn of the event loop. */
const TURN_BYTES = 1_000_000;

/**
 * Changes of runs as events that can each be appended: changes that are too large together are told one after the
 * other, a change that is too large by itself member by member. The order stays. A run with a member that is too large
 * by itself is left out, and `refuse` is called with its place in the list and the error.
 */
export async function splitRuns(
  stream: string,
  runs: readonly RunChange[],
  metadata: Metadata,
  refuse: (at: number, error: AppendTooLarge) => void,
): Promise<RunsReceived[]> {
  const most = MAX_APPEND_BYTES - appendedBytes(received([]), metadata);
  const events: RunChange[][] = [[]];
  let bytes = 0;
  let measured = 0;
  const add = (change: RunChange, more: number) => {
    if (bytes > 0 && bytes + more > most) [bytes] = [0, events.push([])];
    events.at(-1)!.push(change);
    bytes += more;
  };
  for (const [at, run] of runs.entries()) {
    const size = bytesOf(run);
    const changes =
      size <= most ? [{ change: run, size }] : members(run).map((change) => ({ change, size: bytesOf(change) }));
    const large = changes.find((one) => one.size > most);
    if (large) refuse(at, new AppendTooLarge(stream, large.size));
    else for (const one of changes) add(one.change, one.size);
    measured += size;
    if (measured < TURN_BYTES) continue;
    measured = 0;
    await otherRequests();
  }
  return events.filter((changes) => changes.length > 0).map(received);
}

function members({ id, ...rest }: RunChange): RunChange[] {
  return Object.entries(rest).map(([name, value]) => ({ id, [name]: value }));
}

function received(runs: readonly RunChange[]): RunsReceived {
  return { type: 'RunsReceived', data: { runs } };
}

/** As JSON in a list. */
function bytesOf(run: RunChange): number {
  return Buffer.byteLength(JSON.stringify(run)) + 1;
}
