import { TooManyRequests } from '@fairlead/schema';

/** The owner has too many requests waiting already. */
class ShareExceeded extends TooManyRequests {
  constructor(
    readonly owner: string,
    message: string,
  ) {
    super(1, message);
  }
}

interface Waiter {
  readonly take: () => void;
}

/**
 * Divides `total` places among owners: none has more than `perOwner` at a time, at most `waiting` of its requests wait,
 * and a place that becomes free goes to the owner that has the fewest.
 */
export class Shares {
  private readonly taken = new Map<string, number>();
  private readonly queues = new Map<string, Waiter[]>();
  private free: number;

  constructor(
    total: number,
    private readonly perOwner: number,
    private readonly waiting: number,
    /** Message of the ShareExceeded. */
    private readonly message: string,
  ) {
    this.free = total;
  }

  /**
   * Resolves when the owner has a place, with a function that gives it back. A request that `hasBegun` waits however many
   * others do.
   * @throws ShareExceeded at once, and the signal's reason when it is aborted before
   */
  async take(owner: string, signal: AbortSignal, hasBegun = false): Promise<() => void> {
    signal.throwIfAborted();
    if (this.free > 0 && this.countOf(owner) < this.perOwner) this.count(owner, 1);
    else await this.wait(owner, signal, hasBegun);
    let given = false;
    return () => {
      if (given) return;
      given = true;
      this.count(owner, -1);
      this.next();
    };
  }

  /** Returns the number of requests that wait for a place. */
  get waitingCount(): number {
    return [...this.queues.values()].reduce((sum, queue) => sum + queue.length, 0);
  }

  private wait(owner: string, signal: AbortSignal, hasBegun: boolean): Promise<void> {
    const queue = this.queues.get(owner) ?? [];
    if (queue.length >= this.waiting && !hasBegun) throw new ShareExceeded(owner, this.message);
    this.queues.set(owner, queue);
    return new Promise((resolve, reject) => {
      const leave = () => {
        queue.splice(queue.indexOf(waiter), 1);
        if (queue.length === 0) this.queues.delete(owner);
        reject(signal.reason as Error);
      };
      const waiter = {
        take: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      queue.push(waiter);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  private next(): void {
    let chosen: string | undefined;
    for (const owner of this.queues.keys()) {
      const count = this.countOf(owner);
      if (count < this.perOwner && (chosen === undefined || count < this.countOf(chosen))) chosen = owner;
    }
    if (chosen === undefined) return;
    const queue = this.queues.get(chosen)!;
    const waiter = queue.shift()!;
    // An owner that waits on goes behind the others.
    this.queues.delete(chosen);
    if (queue.length > 0) this.queues.set(chosen, queue);
    this.count(chosen, 1);
    waiter.take();
  }

  private countOf(owner: string): number {
    return this.taken.get(owner) ?? 0;
  }

  private count(owner: string, more: 1 | -1): void {
    const count = this.countOf(owner) + more;
    this.free -= more;
    if (count > 0) this.taken.set(owner, count);
    else this.taken.delete(owner);
  }
}
