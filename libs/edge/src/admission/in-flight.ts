import { FairShare } from './fair-share';

/** Most of something at a time, in the process and of each key. */
export interface Capacity {
  readonly total: number;
  readonly perKey: number;
}

/** How long the requests under way are watched before they count as a queue that does not get shorter. */
const WATCH_MS = 500;
/** A queue is kept so short that what is let in now is answered within this time. */
const PATIENCE_MS = 400;
/** A key's part of a standing queue at most. */
const KEY_SHARE = 3 / 4;

/**
 * Counts requests under way. Beyond the capacity none is let in. Nor is one while there is a standing queue longer than
 * what was finished lately within 0.4 seconds: so what is let in is answered in time, whatever the requests wait for.
 * Each workspace has a fair share of that; what one of them still has beyond it, since it was more, closes nothing for
 * others. A quarter of the capacity is always there for a single key, and a third for
 * all: few that are slow, as while processes start beside this one, are no overload, and close nothing for others.
 */
export class InFlight {
  count = 0;
  private readonly perKey = new Map<string, number>();
  private readonly workspaces: FairShare;
  private readonly floor: number;
  private most: number;
  private mostPerKey: number;
  private watchedSince = 0;
  /** Of the time watched: the fewest at a time, and how many were finished. */
  private fewest = 0;
  private finished = 0;

  constructor(private readonly capacity: Capacity) {
    this.most = capacity.total;
    this.mostPerKey = capacity.perKey;
    this.floor = Math.max(1, Math.floor(capacity.total / 4));
    this.workspaces = new FairShare(capacity.total);
  }

  /** There is no room for another one; `now` in milliseconds. */
  isFull(now: number): boolean {
    if (now - this.watchedSince >= WATCH_MS) this.watch(now);
    if (this.count >= this.capacity.total) return true;
    return this.count - this.workspaces.excess(this.most) >= this.most;
  }

  /** Counts a request in, unless there are too many. */
  enter(now: number): boolean {
    if (this.isFull(now)) return false;
    this.count++;
    return true;
  }

  /** How many are counted for a key. */
  countOf(key: string): number {
    return this.perKey.get(key) ?? 0;
  }

  /** A key has as many as it may ever have, however soon others are done. */
  isSpentBy(key: string): boolean {
    return this.countOf(key) >= this.capacity.perKey;
  }

  /** A key, or the workspace that it belongs to, has as many as it may now. */
  isOverloadedBy(key: string, workspace = key): boolean {
    return this.countOf(key) >= this.mostPerKey || !this.workspaces.allows(workspace, 1, this.most);
  }

  /** Counts a request that was let in for its key and its workspace, unless one of them has too many. */
  enterKey(key: string, workspace = key): boolean {
    if (this.isOverloadedBy(key, workspace)) return false;
    this.workspaces.take(workspace, 1, this.most);
    this.perKey.set(key, this.countOf(key) + 1);
    return true;
  }

  /** Counts a request out; with its key if it was counted for that. One that was refused after all finished nothing. */
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
