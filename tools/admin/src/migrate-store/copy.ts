import { appendedBytes, type EventStore, MAX_APPEND_BYTES, type Recorded } from '@fairlead/eventing';
import type { EventStoreDbStore } from '@fairlead/eventstoredb';
import { eventStoreDb } from '@fairlead/service';
import type { Pool } from 'pg';
import { isDeepStrictEqual } from 'node:util';
import { MoveProblem } from './problem';

const AHEAD = { appends: 500, bytes: 8_000_000 };

/**
 * Appends what the new log does not hold yet, in the order of the old one: events keep their ids, streams, versions and
 * times. The end of the new log says how far an earlier run came.
 * @throws MoveProblem when the new log holds something else
 */
export async function copy(
  database: Pool,
  from: EventStore,
  to: EventStoreDbStore,
  copied: (position: bigint) => void,
): Promise<void> {
  const { withOriginalTime } = eventStoreDb();
  const head = await from.head();
  const start = await reached(database, to);
  copied(start);
  if (start >= head) return;
  const stop = new AbortController();
  for await (const { events, position } of from.subscribe(start, stop.signal)) {
    for (const appends of ahead(together(events))) {
      await to.appendInOrder(
        appends.map((events) => {
          const { stream, version, metadata, time } = events[0]!;
          return { stream, version: version - 1, events, metadata: withOriginalTime(metadata, time) };
        }),
      );
      copied(appends.at(-1)!.at(-1)!.position);
    }
    if (position >= head) stop.abort();
  }
}

/** Position in the old log of the newest event of the new one. */
async function reached(database: Pool, to: EventStoreDbStore): Promise<bigint> {
  const newest = await to.newest();
  if (!newest) return 0n;
  const { rows } = await database.query<{ position: string }>(
    'select "position" from events where id = $1 and stream = $2 and version = $3',
    [newest.id, newest.stream, newest.version],
  );
  if (!rows[0]) {
    throw new MoveProblem(`The new log holds event ${newest.id} in ${newest.stream}, which the old one does not have.`);
  }
  return BigInt(rows[0].position);
}

/** The appends that are sent before the first of them is answered: so many, and of so many bytes. */
function* ahead(groups: readonly Recorded[][]): Generator<Recorded[][]> {
  let [appends, bytes]: [Recorded[][], number] = [[], 0];
  for (const group of groups) {
    const size = group.reduce((sum, event) => sum + appendedBytes(event, event.metadata), 0);
    if (appends.length === AHEAD.appends || (appends.length > 0 && bytes + size > AHEAD.bytes)) {
      yield appends;
      [appends, bytes] = [[], 0];
    }
    appends.push(group);
    bytes += size;
  }
  if (appends.length > 0) yield appends;
}

/** Neighbours that were appended together are again. */
function together(events: readonly Recorded[]): Recorded[][] {
  const { withOriginalTime } = eventStoreDb();
  const groups: Recorded[][] = [];
  let bytes = 0;
  for (const event of events) {
    const last = groups.at(-1)?.at(-1);
    const size = appendedBytes(event, withOriginalTime(event.metadata, event.time));
    bytes += size;
    if (last && bytes <= MAX_APPEND_BYTES && isNeighbour(last, event)) {
      groups.at(-1)!.push(event);
    } else {
      groups.push([event]);
      bytes = size;
    }
  }
  return groups;
}

function isNeighbour(one: Recorded, other: Recorded): boolean {
  return one.stream === other.stream && one.time === other.time && isDeepStrictEqual(one.metadata, other.metadata);
}
