import { appendedBytes, AppendTooLarge, MAX_APPEND_BYTES, type Metadata } from '@fairlead/eventing';
import type { RunChange, RunsReceived } from './experiment';

/**
 * Changes of runs as events that can each be appended: changes that are too large together are told one after the
 * other, a change that is too large by itself member by member. The order stays.
 * @throws AppendTooLarge for a member that is too large by itself
 */
export function splitRuns(stream: string, runs: readonly RunChange[], metadata: Metadata): RunsReceived[] {
  const most = MAX_APPEND_BYTES - appendedBytes(received([]), metadata);
  const events: RunChange[][] = [[]];
  let bytes = 0;
  for (const run of runs.flatMap((change) => (bytesOf(change) > most ? members(change) : [change]))) {
    const more = bytesOf(run);
    if (more > most) throw new AppendTooLarge(stream, more);
    if (bytes > 0 && bytes + more > most) [bytes] = [0, events.push([])];
    events.at(-1)!.push(run);
    bytes += more;
  }
  return events.map(received);
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
