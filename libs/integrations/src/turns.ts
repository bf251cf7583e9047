/** Runs at most `most` pieces of work per key at a time; the others wait in their order. */
export class Turns {
  private readonly running = new Map<string, number>();
  private readonly waiting = new Map<string, (() => void)[]>();

  constructor(private readonly most: number) {}

  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    await this.enter(key);
    try {
      return await work();
    } finally {
      this.leave(key);
    }
  }

  private async enter(key: string): Promise<void> {
    const count = this.running.get(key) ?? 0;
    if (count < this.most) {
      this.running.set(key, count + 1);
      return;
    }
    const queue = this.waiting.get(key) ?? [];
    this.waiting.set(key, queue);
    await new Promise<void>((resolve) => queue.push(resolve));
  }

  private leave(key: string): void {
    const queue = this.waiting.get(key);
    const next = queue?.shift();
    if (queue?.length === 0) this.waiting.delete(key);
    if (next) {
      next();
      return;
    }
    const count = (this.running.get(key) ?? 1) - 1;
    if (count === 0) this.running.delete(key);
    else this.running.set(key, count);
  }
}
