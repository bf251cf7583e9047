import type { PoolClient } from 'pg';
import type { Recorded } from '../core/event';

/** Handles a batch, inside the transaction that moves the checkpoint. */
export type BatchHandler = (events: Recorded[], tx: PoolClient) => Promise<void>;

/** A follower: its name, the categories and types that it wants (all when absent), and its handler. */
export interface Projection {
  /** Unique name, also of its checkpoint. */
  readonly name: string;
  readonly categories?: readonly string[];
  readonly types?: readonly string[];
  /** True: the process is ready although it lags. */
  readonly optional?: boolean;
  readonly handle: BatchHandler;
  /** Pause between batches, which a request that waits for the follower ends: fewer and larger ones cost less (ms). */
  readonly gatherMs?: number;
  /** As in the options of `follow`; for followers that requests wait for. */
  readonly pipelined?: boolean;
  /** As in the options of `follow`; for followers whose handlers use further connections. */
  readonly holds?: number;
  /** False for a follower that parks what it cannot handle itself, or that must not leave out an event. */
  readonly setsAside?: false;
}

export interface FollowerStatus {
  readonly name: string;
  readonly position: bigint;
  /** Number of events behind the newest one: counted where positions count events, otherwise estimated. */
  readonly lag: bigint;
  /** True when it takes events at intervals and no request waits for it, so that some lag is usual. */
  readonly gathers: boolean;
  readonly failing?: string;
  readonly optional: boolean;
}
