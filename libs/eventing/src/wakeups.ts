/** Lets any number of readers wait for "something was appended". */
export class Wakeups {
  private waiting = new Set<() => void>();
  private woken = 0;

  /** How often `wake` was called: taken before looking, it lets `next` see a wake that came while looking. */
  get count(): number {
    return this.woken;
  }

  /** Ends every wait. */
  wake(): void {
    this.woken += 1;
    const { waiting } = this;
    this.waiting = new Set();
    for (const resume of waiting) resume();
  }

  /**
   * Resolves at the first `wake` after `count` was taken, when `signal` aborts, or after `ms` milliseconds,
   * whichever comes first.
   */
  next(signal: AbortSignal, ms: number, count = this.woken): Promise<void> {
    if (signal.aborted || this.woken !== count) return Promise.resolve();
    return new Promise((resolve) => {
      const resume = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', resume);
        this.waiting.delete(resume);
        resolve();
      };
      const timer = setTimeout(resume, ms);
      signal.addEventListener('abort', resume, { once: true });
      this.waiting.add(resume);
    });
  }
}
