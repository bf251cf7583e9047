/** Most of something at a time, in the process and of each key. */
export interface Capacity {
  readonly total: number;
  readonly perKey: number;
}

/** How long the requests under way are watched before they count as a queue that does not get shorter. */
const WATCH_MS = 500;
/** A queue is kept so short that what is let in now is answered within this time. */
const PATIENCE_MS = 750;

/**
 * Counts requests under way. Beyond the capacity none is let in. Nor is one while there is a standing queue longer than
 * what was finished lately within three quarters of a second: so what is let in is answered in time, whatever the
 * requests wait for. An eighth of the capacity is always there.
 */
export class InFlight {
  count = 0;
  private readonly perKey = new Map<string, number>();
  private readonly floor: number;
  private most: number;
  private watchedSince = 0;
  /** Of the time watched: the fewest at a time, and how many left. */
  private fewest = 0;
  private left = 0;

  constructor(private readonly capacity: Capacity) {
    this.most = capacity.total;
    this.floor = Math.max(1, Math.floor(capacity.total / 8));
  }

  /** Counts a request in, unless there are too many; `now` in milliseconds. */
  enter(now: number): boolean {
    if (now - this.watchedSince >= WATCH_MS) this.watch(now);
    if (this.count >= this.most) return false;
    this.count++;
    return true;
  }

  /** Counts a request that was let in for its key, unless the key has too many. */
  enterKey(key: string): boolean {
    const count = this.perKey.get(key) ?? 0;
    if (count >= this.capacity.perKey) return false;
    this.perKey.set(key, count + 1);
    return true;
  }

  /** Counts a request out; with its key if it was counted for that. */
  leave(key: string | undefined): void {
    this.count--;
    this.left++;
    if (this.count < this.fewest) this.fewest = this.count;
    if (key === undefined) return;
    const count = this.perKey.get(key)! - 1;
    if (count > 0) this.perKey.set(key, count);
    else this.perKey.delete(key);
  }

  private watch(now: number): void {
    const perMs = this.left / (now - this.watchedSince);
    // At the floor a queue that stands dips only a little below it.
    const standing = this.fewest > this.floor / 2;
    this.most = standing ? within(this.floor, perMs * PATIENCE_MS, this.capacity.total) : this.capacity.total;
    this.watchedSince = now;
    this.fewest = this.count;
    this.left = 0;
  }
}

function within(least: number, value: number, most: number): number {
  return Math.max(least, Math.min(value, most));
}
