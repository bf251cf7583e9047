/**
 * Longest wait of a command for earlier ones (ms). After it, the command runs all the same; its expected version
 * protects the stream.
 */
const MOST_WAIT_MS = 250;

const turns = new WeakMap<object, Map<string, Promise<void>>>();

/**
 * Runs the commands of this process on one stream one after the other. Side by side, the store would refuse all but one
 * of them, and each would read and decide again as often as there are others before it. `owner` tells streams of the same
 * name apart.
 */
export async function inTurn<T>(owner: object, name: string, work: () => Promise<T>): Promise<T> {
  let ends = turns.get(owner);
  if (!ends) turns.set(owner, (ends = new Map<string, Promise<void>>()));
  const before = ends.get(name);
  const running = before ? atMost(before, MOST_WAIT_MS).then(work) : work();
  const end = running.then(nothing, nothing);
  ends.set(name, end);
  try {
    return await running;
  } finally {
    if (ends.get(name) === end) ends.delete(name);
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
