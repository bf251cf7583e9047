/** An owner may hold this many times the free amount, so that something is always left for the next owner. */
const TIMES_FREE = 3;
/** The largest share of a single owner, which follows from it. */
const LARGEST_SHARE = TIMES_FREE / (TIMES_FREE + 1);

/** The amount did not become free in time, or too many requests wait already. */
export class NoPlace extends Error {
  override name = 'NoPlace';
}

interface Limits {
  /** Largest amount of one owner; three times the free amount when absent. */
  readonly perOwner?: number;
  /** Largest number of waiting requests of one owner; 100 when absent. */
  readonly waiting?: number;
  /** Largest number of waiting requests of all owners; 1,000 when absent. */
  readonly waitingTogether?: number;
}

interface Wait {
  readonly amount?: number;
  /** Longest wait (ms); no limit when absent. */
  readonly patience?: number;
  readonly signal?: AbortSignal | null;
  /** True for a request that holds something already: it waits however many others do. */
  readonly hasBegun?: boolean;
}

interface Waiting {
  readonly amount: number;
  readonly begin: () => void;
}

/**
 * Shares a bounded resource (requests, places, bytes) among owners (workspaces, addresses). Without `perOwner`, each may
 * hold three times the free amount, so a single one holds at most three quarters, and an owner that holds little is
 * admitted although others hold much. Freed amounts go first to the waiting owner that holds least, and owners that hold
 * equal amounts take turns.
 */
export class FairShare {
  /** Amount that all owners hold together. */
  used = 0;
  /** Number of waiting requests of all owners. */
  waiting = 0;
  private readonly held = new Map<string, number>();
  /** Waiting requests by owner, in the order in which the owners take turns. */
  private readonly queues = new Map<string, Waiting[]>();

  constructor(
    readonly total: number,
    private readonly limits: Limits = {},
  ) {}

  of(owner: string): number {
    return this.held.get(owner) ?? 0;
  }

  /** Returns whether an owner may take `amount` more. `total`: the current total when it is smaller than usual. */
  allows(owner: string, amount = 1, total = this.total): boolean {
    const free = Math.min(total - this.used + this.excess(total), this.total - this.used);
    return amount <= free && this.of(owner) + amount <= (this.limits.perOwner ?? TIMES_FREE * free);
  }

  /** Returns what owners hold beyond the largest share of `total`, because they took it when the total was larger. */
  excess(total: number): number {
    if (total >= this.total || this.used < total) return 0;
    const most = total * LARGEST_SHARE;
    let excess = 0;
    for (const amount of this.held.values()) excess += Math.max(0, amount - most);
    return excess;
  }

  /** Takes an amount for an owner; returns false when it is not allowed. */
  take(owner: string, amount = 1, total = this.total): boolean {
    if (!this.allows(owner, amount, total)) return false;
    this.add(owner, amount);
    return true;
  }

  /**
   * Takes an amount as soon as it is allowed. Returns a function that gives it back, which may be called more than once.
   * @throws NoPlace; the reason of `signal` when that aborts
   */
  async wait(owner: string, { amount = 1, patience, signal, hasBegun = false }: Wait = {}): Promise<() => void> {
    signal?.throwIfAborted();
    const waits = this.queues.get(owner)?.length ?? 0;
    if (waits > 0 || !this.take(owner, amount)) {
      const { waiting = 100, waitingTogether = 1_000 } = this.limits;
      if (!hasBegun && (waits >= waiting || this.waiting >= waitingTogether))
        throw new NoPlace('Too many requests wait already.');
      await this.enqueue(owner, amount, patience, signal);
    }
    let given = false;
    return () => {
      if (given) return;
      given = true;
      this.give(owner, amount);
    };
  }

  /** Runs `work` while the owner holds an amount. @throws as `wait`, and as the work */
  async hold<T>(owner: string, wait: Wait, work: () => Promise<T>): Promise<T> {
    const giveBack = await this.wait(owner, wait);
    try {
      return await work();
    } finally {
      giveBack();
    }
  }

  /** Returns an amount that was taken. */
  give(owner: string, amount = 1): void {
    this.add(owner, -amount);
    while (this.serve());
  }

  private enqueue(owner: string, amount: number, patience?: number, signal?: AbortSignal | null): Promise<void> {
    const queue = this.queues.get(owner) ?? [];
    this.queues.set(owner, queue);
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', aborted);
        this.waiting--;
        queue.splice(queue.indexOf(waiting), 1);
        if (queue.length === 0) this.queues.delete(owner);
      };
      const giveUp = (reason: Error) => {
        leave();
        reject(reason);
        // The next request of the owner may ask for less.
        while (this.serve());
      };
      const begin = () => {
        leave();
        resolve();
      };
      const waiting: Waiting = { amount, begin };
      const aborted = () => giveUp(signal!.reason as Error);
      const late = () => giveUp(new NoPlace('No place became free in time.'));
      const timer = patience === undefined ? undefined : setTimeout(late, patience);
      signal?.addEventListener('abort', aborted, { once: true });
      this.waiting++;
      queue.push(waiting);
    });
  }

  private add(owner: string, amount: number): void {
    this.used += amount;
    const held = this.of(owner) + amount;
    if (held > 0) this.held.set(owner, held);
    else this.held.delete(owner);
  }

  /** Serves the first waiting request of the owner that holds least. Returns false when none could be served. */
  private serve(): boolean {
    let chosen: string | undefined;
    for (const [owner, [first]] of this.queues) {
      if (!first || !this.allows(owner, first.amount)) continue;
      if (chosen === undefined || this.of(owner) < this.of(chosen)) chosen = owner;
    }
    if (chosen === undefined) return false;
    const queue = this.queues.get(chosen)!;
    // The owner goes behind the others that wait.
    this.queues.delete(chosen);
    this.queues.set(chosen, queue);
    const [first] = queue;
    this.add(chosen, first!.amount);
    first!.begin();
    return true;
  }
}
