import { FairShare } from '@fairlead/schema';
import type { Pool } from 'pg';

/** By the options of a pool, which the pools that are derived from it share. */
const pools = new WeakMap<object, FairShare>();

/**
 * Runs work that holds up to `held` connections of a pool while it waits for one more. Only so much of it runs at a time
 * that one connection is left to wait for: else all of it could wait for what the others hold, until the pool's timeout.
 * The rest waits, in the order in which it came. A pool needs `held` + 1 connections at least.
 */
export function nested<T>(pool: Pool, held: number, work: () => Promise<T>): Promise<T> {
  const most = Math.max(1, (pool.options.max ?? 10) - 1);
  const places =
    pools.get(pool.options) ?? new FairShare(most, { perOwner: most, waiting: Infinity, waitingTogether: Infinity });
  pools.set(pool.options, places);
  return places.hold('', { amount: Math.min(held, most) }, work);
}
