import type { WorkItem, WorkQueue } from './work-queue';

/** The lease of one item: it is renewed until its end, and notices what is noted meanwhile. */
export class Lease {
  /** Aborts when the lease has been lost or the service stops. */
  readonly signal: AbortSignal;
  noted: bigint;
  /** True while the work only waits: then it takes none of the places of its worker. */
  isWaiting = false;
  private readonly over = new AbortController();
  private readonly leave: () => void;
  private readonly timer: NodeJS.Timeout;
  private renewedAt = Date.now();
  /** True when something may have been noted that `see` has not seen. */
  private isBehind = false;
  private newest: bigint;
  private changed: () => void = () => undefined;

  constructor(
    readonly item: WorkItem,
    private readonly queue: WorkQueue,
    stopping: AbortSignal,
  ) {
    const { lease, renewal = lease } = queue.settings;
    this.noted = this.newest = item.noted;
    this.signal = this.over.signal;
    const stop = () => this.over.abort(stopping.reason);
    // A combined signal would leave an entry with `stopping`, which lives as long as the process, for every lease.
    this.leave = () => stopping.removeEventListener('abort', stop);
    if (stopping.aborted) stop();
    else stopping.addEventListener('abort', stop);
    this.timer = setInterval(() => void this.renew(), Math.min(renewal, lease / 3));
  }

  end(): void {
    clearInterval(this.timer);
    this.leave();
  }

  /** Says that something was noted for the item. `noted`: what is noted by now, where that is known. */
  look(noted = this.newest): void {
    if (noted > this.newest) this.newest = noted;
    this.isBehind = true;
    this.changed();
  }

  /**
   * Renews the lease, and sets `noted`. What is read after this sees everything that was noted before. @throws when the
   * lease has been lost
   */
  async see(): Promise<void> {
    this.isBehind = false;
    const noted = await this.queue.renew(this.item.id);
    if (noted === undefined) this.over.abort();
    else this.noted = this.newest = noted;
    this.signal.throwIfAborted();
  }

  /**
   * Runs `work`. Its signal aborts when the lease has been lost, or when `stillRight` returns false, which is asked, with
   * what is noted by then, when something has been noted since `see`.
   */
  async during<T>(
    work: (signal: AbortSignal) => Promise<T>,
    stillRight: (noted: bigint) => Promise<boolean>,
  ): Promise<T> {
    const outdated = new AbortController();
    this.changed = () => {
      stillRight(this.newest).then(
        (right) => right || outdated.abort(),
        () => undefined,
      );
    };
    try {
      if (this.isBehind) this.changed();
      return await work(AbortSignal.any([this.signal, outdated.signal]));
    } finally {
      this.changed = () => undefined;
    }
  }

  private async renew(): Promise<void> {
    try {
      const noted = await this.queue.renew(this.item.id);
      if (noted === undefined) return this.over.abort();
      this.renewedAt = Date.now();
      // An event may have been noted by another process.
      if (noted !== this.noted) this.look(noted);
    } catch {
      if (Date.now() - this.renewedAt > this.queue.settings.lease * 0.8) this.over.abort();
    }
  }
}
