/** The queue of an owner is full, or its turn did not come in time. */
export class NoPlace extends Error {
  override name = 'NoPlace';
}

/** Largest number of waiting requests of one owner. */
const MOST_WAITING = 1000;

interface Waiting {
  begin(): void;
}

/**
 * A limited number of places, in total and for each owner. Requests without a place wait, and free places go to the
 * owners in turn, so that the queue of one does not delay another.
 */
export class FairPlaces {
  private taken = 0;
  private readonly held = new Map<string, number>();
  /** Queues by owner, in the order in which the owners take turns. */
  private readonly waiting = new Map<string, Waiting[]>();

  constructor(
    private readonly total: number,
    private readonly perOwner: number,
  ) {}

  /**
   * Takes a place. Returns the function that frees it, which may be called more than once. `patience`: longest wait
   * (ms).
   * @throws NoPlace; the reason of `signal` when that aborts.
   */
  async take(owner: string, patience: number, signal?: AbortSignal | null): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.taken < this.total && this.holds(owner) < this.perOwner) this.enter(owner);
    else await this.wait(owner, patience, signal);
    let given = false;
    return () => {
      if (given) return;
      given = true;
      this.leave(owner);
    };
  }

  private wait(owner: string, patience: number, signal?: AbortSignal | null): Promise<void> {
    const queue = this.waiting.get(owner) ?? [];
    if (queue.length >= MOST_WAITING) return Promise.reject(new NoPlace('Too many calls of this workspace wait.'));
    this.waiting.set(owner, queue);
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', aborted);
      };
      const entry: Waiting = {
        begin: () => {
          end();
          this.enter(owner);
          resolve();
        },
      };
      const giveUp = (reason: Error) => {
        end();
        queue.splice(queue.indexOf(entry), 1);
        if (queue.length === 0) this.waiting.delete(owner);
        reject(reason);
      };
      const aborted = () => giveUp(signal!.reason as Error);
      const timer = setTimeout(() => giveUp(new NoPlace('No place became free in time.')), patience);
      signal?.addEventListener('abort', aborted);
      queue.push(entry);
    });
  }

  private holds(owner: string): number {
    return this.held.get(owner) ?? 0;
  }

  private enter(owner: string): void {
    this.taken += 1;
    this.held.set(owner, this.holds(owner) + 1);
  }

  private leave(owner: string): void {
    this.taken -= 1;
    const left = this.holds(owner) - 1;
    if (left === 0) this.held.delete(owner);
    else this.held.set(owner, left);
    const next = [...this.waiting.keys()].find((name) => this.holds(name) < this.perOwner);
    if (next === undefined) return;
    const queue = this.waiting.get(next)!;
    const entry = queue.shift()!;
    // The owner goes behind the others that wait.
    this.waiting.delete(next);
    if (queue.length > 0) this.waiting.set(next, queue);
    entry.begin();
  }
}
