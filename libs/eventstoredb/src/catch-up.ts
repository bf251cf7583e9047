import { type Batch, Wakeups } from '@fairlead/eventing';

/** Number of batches that are kept for subscribers that have not read them yet. */
const KEPT = 8;
/** Time that subscribers wait for one that has not read the oldest batch (ms); then they go on without it. */
const PATIENCE_MS = { together: 1000, behind: 30_000 };
/** Distance in bytes of the log: a subscriber waits for a reading that is at most this far ahead. */
const NEAR = 4_000_000n;
/** Interval at which a waiting subscriber looks again (ms). */
const LOOK_MS = 1000;

interface Reader {
  position: bigint;
}

/**
 * Reads old parts of the log for the subscribers of a process. Subscribers at nearly the same position share one
 * reading; others get one of their own.
 */
export class EventStoreDbCatchUp {
  private readonly together: Lane;
  private readonly behind: Lane;

  /** `read` returns the events after a position, unfiltered; the same position when there are none. */
  constructor(read: (position: bigint) => Promise<Batch>, patience = PATIENCE_MS) {
    this.together = new Lane(read, patience.together);
    this.behind = new Lane(read, patience.behind);
  }

  /** Yields the batches after a position in order, until the end of the log or until `signal` aborts. */
  async *from(position: bigint, signal: AbortSignal): AsyncGenerator<Batch> {
    const reader: Reader = { position };
    let lane = this.together.takes(position) ? this.together : this.behind;
    lane.join(reader);
    try {
      while (!signal.aborted) {
        const batch = await lane.next(reader, signal);
        if (batch === 'end') return;
        if (batch === 'left behind') {
          lane.leave(reader);
          lane = this.behind;
          lane.join(reader);
        } else yield batch;
      }
    } finally {
      lane.leave(reader);
    }
  }
}

interface Kept extends Batch {
  readonly from: bigint;
}

class Lane {
  private readonly readers = new Set<Reader>();
  private readonly moved = new Wakeups();
  private kept: Kept[] = [];
  private advancing: Promise<boolean> | undefined;

  constructor(
    private readonly read: (position: bigint) => Promise<Batch>,
    private readonly patienceMs: number,
  ) {}

  /** Returns whether this reading has the events after a position, or will have them soon. */
  takes(position: bigint): boolean {
    if (this.readers.size === 0) return true;
    const positions = [...this.readers].map((reader) => reader.position).sort((a, b) => (a < b ? -1 : 1));
    const oldest = this.kept[0]?.from ?? positions[0]!;
    const end = this.end() ?? positions[0]!;
    // Before the first batch has been read it can begin a little earlier as well.
    const from = this.kept.length === 0 ? oldest - NEAR : oldest;
    return from <= position && position <= end + NEAR;
  }

  /**
   * Adds a reader. When its position is older than the kept batches, the reading starts again there, and the others
   * wait.
   */
  join(reader: Reader): void {
    this.readers.add(reader);
    if (!this.kept[0] || reader.position < this.kept[0].from) this.kept = [];
  }

  leave(reader: Reader): void {
    this.readers.delete(reader);
    if (this.readers.size === 0) this.kept = [];
    this.moved.wake();
  }

  /** Returns the next batch for a reader; 'left behind' when it is no longer kept, 'end' at the end of the log. */
  async next(reader: Reader, signal: AbortSignal): Promise<Batch | 'left behind' | 'end'> {
    while (!signal.aborted) {
      const { position } = reader;
      const found = this.kept.find((batch) => batch.from <= position && position < batch.position);
      if (found) {
        reader.position = found.position;
        this.moved.wake();
        return { events: found.events.filter((event) => event.position > position), position: found.position };
      }
      const oldest = this.kept[0];
      if (oldest && position < oldest.from) return 'left behind';
      const { count } = this.moved;
      if (this.isNext(position)) {
        this.advancing ??= this.advance(position, signal).finally(() => (this.advancing = undefined));
        if (!(await this.advancing) && this.isNext(position)) return 'end';
      } else await this.moved.next(signal, LOOK_MS, count);
    }
    return 'end';
  }

  /**
   * Returns whether the reading continues at this position: at its end or, before it has begun, at its oldest reader.
   */
  private isNext(position: bigint): boolean {
    const end = this.end();
    const positions = [...this.readers].map((reader) => reader.position);
    // Those who have gone ahead are reached only while somebody reads on from the end.
    if (end !== undefined && positions.some((one) => one <= end)) return position === end;
    this.kept = [];
    return positions.every((one) => position <= one);
  }

  /**
   * Reads the batch after a position, and returns false when there is none. It waits for readers that still need the
   * oldest batch.
   */
  private async advance(position: bigint, signal: AbortSignal): Promise<boolean> {
    const patience = Date.now() + this.patienceMs;
    while (this.kept.length >= KEPT && this.isNeeded(this.kept[0]!) && Date.now() < patience && !signal.aborted) {
      await this.moved.next(signal, Math.max(1, patience - Date.now()), this.moved.count);
    }
    const batch = await this.read(position);
    if (batch.position === position) return false;
    if (this.end() === position || this.kept.length === 0) {
      this.kept.push({ ...batch, from: position });
      if (this.kept.length > KEPT) this.kept.shift();
    }
    this.moved.wake();
    return true;
  }

  private isNeeded({ position }: Kept): boolean {
    return [...this.readers].some((reader) => reader.position < position);
  }

  private end(): bigint | undefined {
    return this.kept.at(-1)?.position;
  }
}
