/** Lets any number of waiting readers be woken at once. */
export class Wakeups {
  private waiting = new Set<() => void>();
  private woken = 0;
  /** Signals that wake the readers, with one listener each, because waits are many and short. */
  private readonly signals = new WeakSet<AbortSignal>();

  /** Number of calls of `wake`. Taken before a check, it lets `next` notice a wake that came during the check. */
  get count(): number {
    return this.woken;
  }

  wake(): void {
    this.woken += 1;
    if (this.waiting.size === 0) return;
    const { waiting } = this;
    this.waiting = new Set();
    for (const resume of waiting) resume();
  }

  /** Resolves at the first `wake` after `count` was taken, when `signal` aborts, or after `ms` milliseconds. */
  next(signal: AbortSignal, ms: number, count = this.woken): Promise<void> {
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
      this.waiting.add(resume);
    });
  }
}
