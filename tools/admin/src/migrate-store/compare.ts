import { isDeepStrictEqual } from 'node:util';
import type { EventStore, Recorded } from '@fairlead/eventing';
import type { Pool } from 'pg';
import { MoveProblem } from './problem';

const PAGE = 500;
/** Streams read at the same time. */
const AT_ONCE = 8;

/** Reads every stream from both logs: id, type, data, metadata, version and time are the same. @throws MoveProblem */
export async function compareStreams(
  database: Pool,
  from: EventStore,
  to: EventStore,
  compared: (events: number) => void,
): Promise<void> {
  for (let after = ''; ;) {
    const { rows } = await database.query<{ stream: string }>(
      'select distinct stream from events where stream > $1 order by stream limit $2',
      [after, PAGE],
    );
    if (rows.length === 0) return;
    const waiting = [...rows];
    const work = async () => {
      for (let row = waiting.pop(); row; row = waiting.pop()) compared(await compareStream(row.stream, from, to));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    after = rows.at(-1)!.stream;
  }
}

/** Both logs hold the same events in the same order, and nothing else. @throws MoveProblem */
export async function compareOrder(
  from: EventStore,
  to: EventStore,
  compared: (events: number) => void,
): Promise<void> {
  const olds = idsOf(from);
  const news = idsOf(to);
  for (let place = 1; ; place++) {
    const [old, moved] = [await olds.next(), await news.next()];
    if (old.value !== moved.value) throw new MoveProblem(`Event ${place} of the log is another one in the new log.`);
    if (old.done) return;
    compared(1);
  }
}

async function compareStream(stream: string, from: EventStore, to: EventStore): Promise<number> {
  const [old, moved] = await Promise.all([from.read(stream), to.read(stream)]);
  const wrong = old.findIndex((event, index) => !isSame(event, moved[index]));
  if (wrong >= 0) throw new MoveProblem(`Event ${wrong + 1} of ${stream} is not the same in the new log.`);
  if (moved.length > old.length) throw new MoveProblem(`${stream} has more events in the new log.`);
  return old.length;
}

/** Positions differ: one store counts events, the other bytes. */
function isSame(old: Recorded, moved: Recorded | undefined): boolean {
  return moved !== undefined && isDeepStrictEqual({ ...moved, position: 0n }, { ...old, position: 0n });
}

async function* idsOf(store: EventStore): AsyncGenerator<string> {
  const head = await store.head();
  const stop = new AbortController();
  if (head === 0n) return;
  for await (const { events, position } of store.subscribe(0n, stop.signal)) {
    for (const { id, position } of events) if (position <= head) yield id;
    if (position >= head) stop.abort();
  }
}
