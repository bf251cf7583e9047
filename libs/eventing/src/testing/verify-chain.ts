import type { Recorded } from '../core/event';
import { ChainCheck } from '../core/chain';

/** Holds a whole stream against the hashes that its events hold of those before them. */
export function verifyChain(events: readonly Recorded[]): ReturnType<ChainCheck['report']> {
  const check = new ChainCheck();
  for (const event of events) check.add(event);
  return check.report();
}
