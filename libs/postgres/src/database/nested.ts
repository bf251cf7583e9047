import type { Pool } from 'pg';

interface Waiter {
  readonly held: number;
  readonly begin: () => void;
}

interface Held {
  count: number;
  readonly waiting: Waiter[];
}

/** By the options of a pool, which the pools that are derived from it share. */
const pools = new WeakMap<object, Held>();

/**
 * Runs work that holds up to `held` connections of a pool while it waits for one more. Only so much of it runs at a time
 * that one connection is left to wait for: else all of it could wait for what the others hold, until the pool's timeout.
 * The rest waits, in the order in which it came. A pool needs `held` + 1 connections at least.
 */
export async function nested<T>(pool: Pool, held: number, work: () => Promise<T>): Promise<T> {
  const most = Math.max(1, (pool.options.max ?? 10) - 1);
  const mine = Math.min(held, most);
  const all = pools.get(pool.options) ?? { count: 0, waiting: [] };
  pools.set(pool.options, all);
  if (all.waiting.length > 0 || all.count + mine > most) {
    await new Promise<void>((begin) => all.waiting.push({ held: mine, begin }));
  } else {
    all.count += mine;
  }
  try {
    return await work();
  } finally {
    all.count -= mine;
    for (let next = all.waiting[0]; next && all.count + next.held <= most; next = all.waiting[0]) {
      all.waiting.shift();
      all.count += next.held;
      next.begin();
    }
  }
}
