/** An owner may hold this many times the free amount, so that something is always left for the next owner. */
const TIMES_FREE = 3;
/** The largest share of a single owner, which follows from it. */
const LARGEST_SHARE = TIMES_FREE / (TIMES_FREE + 1);

/** Largest number of waiting requests, of an owner and of all; beyond it, requests do not wait. */
const MOST_WAITING = { ofOwner: 100, together: 1_000 };

interface Waiting {
  readonly amount: number;
  readonly begin: () => void;
}

/**
 * Shares a bounded resource (requests, places, bytes) among owners (workspaces, addresses). Each may hold three times
 * the free amount, so a single one holds at most three quarters, and an owner that holds little is admitted although
 * others hold much. Freed amounts go first to the waiting owner that holds least.
 */
export class FairShare {
  /** Amount that all owners hold together. */
  used = 0;
  private readonly held = new Map<string, number>();
  private readonly queues = new Map<string, Waiting[]>();
  private waiting = 0;

  constructor(readonly total: number) {}

  of(owner: string): number {
    return this.held.get(owner) ?? 0;
  }

  /** Returns whether an owner may take `amount` more. `total`: the current total when it is smaller than usual. */
  allows(owner: string, amount = 1, total = this.total): boolean {
    const free = Math.min(total - this.used + this.excess(total), this.total - this.used);
    return amount <= free && this.of(owner) + amount <= TIMES_FREE * free;
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

  /** As `take`, but waits up to `patience` milliseconds. Resolves to whether it was taken. */
  takeSoon(owner: string, amount: number, patience: number): Promise<boolean> {
    const queue = this.queues.get(owner) ?? [];
    if (queue.length === 0 && this.take(owner, amount)) return Promise.resolve(true);
    if (queue.length >= MOST_WAITING.ofOwner || this.waiting >= MOST_WAITING.together) return Promise.resolve(false);
    return new Promise((resolve) => {
      const end = (taken: boolean) => {
        clearTimeout(timer);
        this.waiting--;
        queue.splice(queue.indexOf(waiting), 1);
        if (queue.length === 0) this.queues.delete(owner);
        resolve(taken);
      };
      const waiting: Waiting = { amount, begin: () => end(true) };
      const timer = setTimeout(() => end(false), patience);
      this.waiting++;
      queue.push(waiting);
      this.queues.set(owner, queue);
    });
  }

  /** Returns an amount that was taken. */
  give(owner: string, amount = 1): void {
    this.add(owner, -amount);
    while (this.serve());
  }

  private add(owner: string, amount: number): void {
    this.used += amount;
    const held = this.of(owner) + amount;
    if (held > 0) this.held.set(owner, held);
    else this.held.delete(owner);
  }

  /** Serves the first waiting request of the owner that holds least. Returns false when none could be served. */
  private serve(): boolean {
    const owners = [...this.queues].sort(([one], [other]) => this.of(one) - this.of(other));
    for (const [owner, queue] of owners) {
      const [first] = queue;
      if (!first || !this.take(owner, first.amount)) continue;
      first.begin();
      return true;
    }
    return false;
  }
}
