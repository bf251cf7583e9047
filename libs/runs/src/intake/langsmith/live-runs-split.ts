import { setImmediate as otherRequests } from 'node:timers/promises';
import type { LargePart } from '@fairlead/blobs';
import { appendedBytes, MAX_APPEND_BYTES, type Metadata } from '@fairlead/eventing';
import type { RunChange } from '../../run/run-change';
import type { RunsReceived } from '../../session/experiment';
import { MOST_BYTES, PART } from './live-runs-body';

/** Bytes that are measured in one turn of the event loop. */
const TURN_BYTES = 1_000_000;

/**
 * Returns the most bytes of the data of a part of a request: what can be recorded of a member of a run, and of what is
 * stored otherwise as much as a request has.
 */
export function mostOfPart(name: string): number {
  const [, method = '', , member] = PART.exec(name) ?? [];
  return member !== undefined && /^(?:post|patch)$/i.test(method) ? MAX_APPEND_BYTES : MOST_BYTES;
}

/**
 * Changes of runs as events that can each be appended: changes that are too large together are told one after the
 * other, a change that is too large by itself member by member. The order stays. Members that are too large by
 * themselves are left out: `leaveOut` is called with the place of their run in the list, and returns whether the rest
 * of the run is told.
 */
export async function splitRuns(
  runs: readonly RunChange[],
  metadata: Metadata,
  leaveOut: (at: number, members: readonly LargePart[]) => boolean,
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
    const changes = size <= most ? [{ name: '', change: run, bytes: size }] : members(run);
    const large = changes.filter(({ bytes: own }) => own > most);
    if (
      large.length === 0 ||
      leaveOut(
        at,
        large.map(({ name, bytes: own }) => ({ name, bytes: own, most })),
      )
    ) {
      for (const { change, bytes: own } of changes) if (own <= most) add(change, own);
      const mark: RunChange = { id: run.id, left_out: large.map(({ name }) => name) };
      if (large.length > 0) add(mark, bytesOf(mark));
    }
    measured += size;
    if (measured < TURN_BYTES) continue;
    measured = 0;
    await otherRequests();
  }
  return events.filter((changes) => changes.length > 0).map(received);
}

function members({ id, ...rest }: RunChange) {
  const sent = Object.entries(rest).filter(([, value]) => value !== undefined);
  return sent.map(([name, value]) => {
    const change: RunChange = { id, [name]: value };
    return { name, change, bytes: bytesOf(change) };
  });
}

function received(runs: readonly RunChange[]): RunsReceived {
  return { type: 'RunsReceived', data: { runs } };
}

/** As JSON in a list. */
function bytesOf(run: RunChange): number {
  return Buffer.byteLength(JSON.stringify(run)) + 1;
}
