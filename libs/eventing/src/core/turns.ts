import type { EventStore } from './event-store';

/**
 * Longest wait of a command for earlier ones (ms). After it, the command runs all the same; its expected version
 * protects the stream.
 */
const MOST_WAIT_MS = 250;

const turns = new WeakMap<EventStore, Map<string, Promise<void>>>();

/**
 * Runs the commands of this process on one stream one after the other. Side by side, the store would refuse all but one
 * of them, and each would read and decide again as often as there are others before it.
 */
export async function inTurn<T>(store: EventStore, stream: string, work: () => Promise<T>): Promise<T> {
  let ends = turns.get(store);
  if (!ends) turns.set(store, (ends = new Map<string, Promise<void>>()));
  const before = ends.get(stream);
  const running = before ? atMost(before, MOST_WAIT_MS).then(work) : work();
  const end = running.then(nothing, nothing);
  ends.set(stream, end);
  try {
    return await running;
  } finally {
    if (ends.get(stream) === end) ends.delete(stream);
  }
}

function atMost(end: Promise<void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void end.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function nothing(): void {}
