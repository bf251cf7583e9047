import type { Recorded } from '../core/event';
import type { EventStore } from '../core/event-store';
import { type LogSeal, readSeals } from './log-seals';
import { leafOf, pathsOf } from './seal-tree';

/** A seal, and the paths from events of one stream, by their version, to its root. */
interface SealWithPaths extends LogSeal {
  readonly paths?: Readonly<Record<string, readonly string[]>>;
}

export type Place = Pick<Recorded, 'version' | 'position' | 'time'>;

/**
 * Yields the seals made since the day of the first of some events of a stream, oldest first, with the paths of these
 * events. It reads the events between two seals where one of them is. Seals without a root, and those of which it cannot
 * tell where their first event is since the log was moved, have no paths.
 */
export async function* sealsOver(
  store: EventStore,
  stream: string,
  events: readonly Place[],
): AsyncGenerator<SealWithPaths> {
  const { seals } = await readSeals(store);
  const day = events[0]?.time.slice(0, 10);
  if (day === undefined) return;
  const head = await store.head();
  let next = 0;
  for (const seal of seals) {
    if (seal.day < day) continue;
    const start = startOf(seal, seals, store.stride === 1n);
    const end = start === undefined ? 0n : BigInt(seal.position);
    // After the end of a log that was cut nothing would come.
    if (start === undefined || end > head) {
      yield seal;
      continue;
    }
    while (events[next] && events[next]!.position <= start) next++;
    const first = next;
    while (events[next] && events[next]!.position <= end) next++;
    yield next > first ? { ...seal, paths: await pathsIn(store, stream, start, end) } : seal;
  }
}

/** Returns the position after which the events of a seal's tree begin; undefined when nothing in the log says it. */
export function startOf(
  { root, from, position, count }: LogSeal,
  seals: readonly LogSeal[],
  isDense: boolean,
): bigint | undefined {
  if (root === undefined || !Number.isSafeInteger(from) || !/^\d{1,19}$/.test(position)) return undefined;
  if (isDense) return BigInt(from!);
  // A position that is a count is of a log that could count its events, from which this one was copied.
  if (position === String(count)) return undefined;
  if (from === 0) return 0n;
  const before = seals.find((seal) => seal.count === from);
  return before === undefined || before.position === String(before.count) ? undefined : BigInt(before.position);
}

async function pathsIn(store: EventStore, stream: string, start: bigint, end: bigint): Promise<SealWithPaths['paths']> {
  const leaves: string[] = [];
  const versions = new Map<number, number>();
  const ending = new AbortController();
  try {
    for await (const { events, position } of store.subscribe(start, ending.signal)) {
      for (const event of events) {
        if (event.position > end) break;
        if (event.stream === stream) versions.set(leaves.length, event.version);
        leaves.push(leafOf(event));
      }
      if (position >= end) break;
    }
  } finally {
    ending.abort();
  }
  const paths = pathsOf(leaves, [...versions.keys()]);
  return Object.fromEntries([...versions].map(([index, version]) => [version, paths.get(index)!]));
}
