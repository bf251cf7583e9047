import { setMaxListeners } from 'node:events';
import type { Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { ThrottledWarning } from '../followers/throttled-warning';
import { Wakeups } from '../followers/wakeups';
import { Lease } from './lease';
import { LOOK_MS, type WorkItem, type WorkQueue } from './work-queue';

/** Leases items of a queue while the application runs and works on several of them at a time. */
export abstract class QueueWorker implements OnApplicationBootstrap, OnApplicationShutdown {
  protected readonly stopping = new AbortController();
  protected readonly working = new Map<string, { readonly lease: Lease; readonly ended: Promise<void> }>();
  private readonly wakeups = new Wakeups();
  private readonly warning: ThrottledWarning;
  private ended: Promise<void> = Promise.resolve();

  constructor(
    private readonly queue: WorkQueue,
    protected readonly logger: Logger,
    private readonly concurrency: number,
  ) {
    // Every lease listens to this one signal.
    setMaxListeners(0, this.stopping.signal);
    this.warning = new ThrottledWarning((text) => logger.error(text));
    queue.onNote((id = '', noted) => {
      this.working.get(id)?.lease.look(noted);
      this.wakeups.wake();
    });
  }

  protected abstract work(lease: Lease): Promise<void>;

  protected async prepare(): Promise<void> {}

  onApplicationBootstrap(): void {
    this.ended = this.run();
  }

  /** Leases no more items, and resolves when the work on those that are leased has ended. */
  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.ended;
    await Promise.all([...this.working.values()].map(({ ended }) => ended));
    await this.queue.release().catch(() => undefined);
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const { count } = this.wakeups;
      await this.prepare();
      const free = this.concurrency - [...this.working.values()].filter(({ lease }) => !lease.isWaiting).length;
      const claimed = free > 0 ? await this.claim(free) : [];
      for (const item of claimed) this.beginOnce(item);
      if (claimed.length === 0 || claimed.length < free) await this.wakeups.next(signal, LOOK_MS, count);
    }
  }

  private async claim(most: number): Promise<WorkItem[]> {
    try {
      const claimed = await this.queue.claim(most);
      this.warning.worked();
      return claimed;
    } catch (error) {
      this.warning.failed(`No work can be leased: ${String(error)}`);
      return [];
    }
  }

  /**
   * Begins an item, after the work on it that this process has not ended yet: the process can lease it again when it was
   * given back a moment ago, or after a pause longer than the lease.
   */
  private beginOnce(item: WorkItem): void {
    const current = this.working.get(item.id);
    if (!current) return this.begin(item);
    const next = () => {
      if (!this.stopping.signal.aborted && !this.working.has(item.id)) this.begin(item);
    };
    current.ended.then(next, next);
  }

  private begin(item: WorkItem): void {
    const lease = new Lease(item, this.queue, this.stopping.signal);
    const ended = this.work(lease).finally(() => {
      lease.end();
      this.working.delete(item.id);
      this.wakeups.wake();
    });
    this.working.set(item.id, { lease, ended });
  }
}
