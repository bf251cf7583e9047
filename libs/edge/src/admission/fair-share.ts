/** An owner may hold this many times what is left free, so that there is always something for the next owner. */
const TIMES_FREE = 3;
/** What follows from it for a single owner. */
const LARGEST_SHARE = TIMES_FREE / (TIMES_FREE + 1);

/** Beyond it nothing more waits, of an owner and in all. */
const MOST_WAITING = { ofOwner: 100, together: 1_000 };

interface Waiting {
  readonly amount: number;
  readonly begin: () => void;
}

/**
 * Something bounded that owners (workspaces, addresses) share: requests, places, bytes. Each may hold three times what
 * is left free, so a single one at most three quarters of it, and one that holds little gets in although others hold
 * much. What becomes free goes first to the waiting owner that holds least.
 */
export class FairShare {
  /** Of all owners together. */
  used = 0;
  private readonly held = new Map<string, number>();
  private readonly queues = new Map<string, Waiting[]>();
  private waiting = 0;

  constructor(readonly total: number) {}

  of(owner: string): number {
    return this.held.get(owner) ?? 0;
  }

  /** Whether an owner may have so much more; `total` when there is less for now. */
  allows(owner: string, amount = 1, total = this.total): boolean {
    const free = Math.min(total - this.used + this.excess(total), this.total - this.used);
    return amount <= free && this.of(owner) + amount <= TIMES_FREE * free;
  }

  /** What owners hold beyond the largest share of `total`, because they took it when there was more. */
  excess(total: number): number {
    if (total >= this.total || this.used < total) return 0;
    const most = total * LARGEST_SHARE;
    let excess = 0;
    for (const amount of this.held.values()) excess += Math.max(0, amount - most);
    return excess;
  }

  /** Takes so much for an owner if it is allowed. */
  take(owner: string, amount = 1, total = this.total): boolean {
    if (!this.allows(owner, amount, total)) return false;
    this.add(owner, amount);
    return true;
  }

  /** As `take`, waiting up to `patience` milliseconds; answers whether it was taken. */
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

  /** Gives back what was taken. */
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

  /** Lets the first one wait no longer of the owner that holds least; answers whether there was one. */
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
