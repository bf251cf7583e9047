import { FairShare } from '@fairlead/schema';

/** Largest number of concurrent requests, of the process and of each key. */
export interface Capacity {
  readonly total: number;
  readonly perKey: number;
}

/** Time for which running requests are observed before they count as a standing queue (ms). */
const WATCH_MS = 500;
/** Target time of an answer (ms): the queue is kept short enough that an admitted request is answered within it. */
const PATIENCE_MS = 400;
/** Largest share of a standing queue for one key. */
const KEY_SHARE = 3 / 4;

/**
 * Counts running requests and decides whether another one is admitted. Requests beyond the capacity are refused. So are
 * requests while there is a standing queue that takes longer than 0.4 seconds at the recent rate: admitted requests are
 * then answered in time, whatever they wait for. Each workspace has a fair share of the capacity; what one of them
 * holds beyond a share that has become smaller is not counted against others. A quarter of the capacity is always
 * available to a single key, and a third to all: a few slow requests, as while other processes start, are no overload.
 */
export class InFlight {
  count = 0;
  private readonly perKey = new Map<string, number>();
  private readonly workspaces: FairShare;
  private readonly floor: number;
  private most: number;
  private mostPerKey: number;
  private watchedSince = 0;
  /** In the observed period: the smallest number of running requests, and the number of finished ones. */
  private fewest = 0;
  private finished = 0;

  constructor(private readonly capacity: Capacity) {
    this.most = capacity.total;
    this.mostPerKey = capacity.perKey;
    this.floor = Math.max(1, Math.floor(capacity.total / 4));
    this.workspaces = new FairShare(capacity.total);
  }

  /** Returns whether there is no room for another request. `now`: milliseconds. */
  isFull(now: number): boolean {
    if (now - this.watchedSince >= WATCH_MS) this.watch(now);
    if (this.count >= this.capacity.total) return true;
    return this.count - this.workspaces.excess(this.most) >= this.most;
  }

  /** Counts a request; returns false when there is no room. */
  enter(now: number): boolean {
    if (this.isFull(now)) return false;
    this.count++;
    return true;
  }

  /** Returns the number of running requests of a key. */
  countOf(key: string): number {
    return this.perKey.get(key) ?? 0;
  }

  /** Returns whether a key is at its own limit, which does not depend on other requests. */
  isSpentBy(key: string): boolean {
    return this.countOf(key) >= this.capacity.perKey;
  }

  /** Returns whether a key or its workspace has as many requests as it may have at the moment. */
  isOverloadedBy(key: string, workspace = key): boolean {
    return this.countOf(key) >= this.mostPerKey || !this.workspaces.allows(workspace, 1, this.most);
  }

  /** Counts an admitted request for its key and workspace; returns false when one of them has too many. */
  enterKey(key: string, workspace = key): boolean {
    if (this.isOverloadedBy(key, workspace)) return false;
    this.workspaces.take(workspace, 1, this.most);
    this.perKey.set(key, this.countOf(key) + 1);
    return true;
  }

  /**
   * Ends the counting of a request, also for its key if it was counted there. A request that was refused later does not
   * count as finished.
   */
  leave(key: string | undefined, wasRefused = false, workspace = key): void {
    this.count--;
    if (!wasRefused) this.finished++;
    if (this.count < this.fewest) this.fewest = this.count;
    if (key === undefined) return;
    this.workspaces.give(workspace!);
    const count = this.perKey.get(key)! - 1;
    if (count > 0) this.perKey.set(key, count);
    else this.perKey.delete(key);
  }

  private watch(now: number): void {
    const { total, perKey } = this.capacity;
    const perMs = this.finished / (now - this.watchedSince);
    // At the floor a queue that stands dips only a little below it.
    const standing = this.fewest > this.floor / 2;
    this.most = standing ? within(Math.ceil(total / 3), perMs * PATIENCE_MS, total) : total;
    this.mostPerKey = standing
      ? within(Math.min(this.floor, perKey), Math.floor(this.most * KEY_SHARE), perKey)
      : perKey;
    this.watchedSince = now;
    this.fewest = this.count;
    this.finished = 0;
  }
}

function within(least: number, value: number, most: number): number {
  return Math.max(least, Math.min(value, most));
}
