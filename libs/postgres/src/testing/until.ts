import { inspect } from 'node:util';

type Nothing = false | null | undefined;

/** Milliseconds between looks: short at first, and a fiftieth of what has been waited; long waits would else take much processor time. */
const pauseAfter = (waited: number) => Math.min(50, 10 + waited / 50);

/**
 * Looks again until what is seen is as expected, or, with nothing expected, until something is seen; returns it.
 * @throws Error after `ms` milliseconds, which says what it waited for and what it saw last
 */
export async function until<T>(
  look: () => T | Promise<T>,
  expected: (seen: T) => boolean = (seen) => seen !== undefined && seen !== null && seen !== false,
  ms = 120_000,
): Promise<Exclude<T, Nothing>> {
  for (const began = Date.now(); ;) {
    const seen = await look();
    if (expected(seen)) return seen as Exclude<T, Nothing>;
    const waited = Date.now() - began;
    if (waited > ms) {
      const shown = inspect(seen, { depth: 4, maxArrayLength: 20, maxStringLength: 4000, breakLength: 120 });
      throw new Error(
        `Waited ${ms} ms for ${String(look)} to be as ${String(expected)} expects; it saw last: ${shown}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, pauseAfter(waited)));
  }
}
