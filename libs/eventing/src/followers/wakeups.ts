/** Lets any number of waiting readers be woken at once, or only those that the news concern. */
export class Wakeups<News = never> {
  private readonly waiting = new Map<() => void, ((news: News) => boolean) | undefined>();
  private woken = 0;
  /** Signals that wake the readers, with one listener each, because waits are many and short. */
  private readonly signals = new WeakSet<AbortSignal>();

  /** Number of calls of `wake`. Taken before a check, it lets `next` notice a wake that came during the check. */
  get count(): number {
    return this.woken;
  }

  /** Wakes all readers; with news, not those that do not want these. */
  wake(news?: News): void {
    this.woken += 1;
    for (const [resume, wants] of this.waiting) {
      if (news === undefined || !wants || wants(news)) resume();
    }
  }

  /**
   * Resolves at the first `wake` after `count` was taken, when `signal` aborts, or after `ms` milliseconds. News for
   * which `wants` returns false do not count while it waits.
   */
  next(signal: AbortSignal, ms: number, count = this.woken, wants?: (news: News) => boolean): Promise<void> {
    if (signal.aborted || this.woken !== count) return Promise.resolve();
    if (!this.signals.has(signal)) {
      this.signals.add(signal);
      signal.addEventListener('abort', () => this.wake(), { once: true });
    }
    return new Promise((resolve) => {
      const resume = () => {
        clearTimeout(timer);
        this.waiting.delete(resume);
        resolve();
      };
      const timer = setTimeout(resume, ms);
      this.waiting.set(resume, wants);
    });
  }
}
