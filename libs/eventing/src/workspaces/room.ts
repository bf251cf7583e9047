interface Owner {
  /** Number of admitted additions that may not be counted yet. */
  open: number;
  total: number;
  requests: number;
}

/**
 * Holds a limit on what is counted where it is stored, however many requests of this process add to it side by side: what
 * was let in counts as if it were there already. Another process does not know of it: the limit is exceeded at most by
 * what the other processes let in until their views show it.
 */
export class Room {
  private readonly owners = new Map<string, Owner>();

  constructor(private readonly limit: number) {}

  /**
   * Lets an owner add `more` to what `count` finds of it. Resolves with a function to be called once that can be counted,
   * or has failed; with undefined when there is no room.
   */
  async take(owner: string, more: number, count: () => Promise<number>): Promise<(() => void) | undefined> {
    const own = this.owners.get(owner) ?? { open: 0, total: 0, requests: 0 };
    this.owners.set(owner, own);
    own.requests += 1;
    let added = 0;
    let left = false;
    const leave = () => {
      if (left) return;
      left = true;
      own.open -= added;
      own.requests -= 1;
      if (own.requests === 0) this.owners.delete(owner);
    };
    const { open, total } = own;
    try {
      const counted = await count();
      // Neither what was under way nor what was let in meanwhile is certain to be counted.
      if (counted + open + (own.total - total) + more <= this.limit) {
        added = more;
        own.open += more;
        own.total += more;
        return leave;
      }
    } catch (error) {
      leave();
      throw error;
    }
    leave();
    return undefined;
  }
}
