import { Unavailable } from '@fairlead/http';

/** Seconds after which a client that was turned away may come again. */
const RETRY_AFTER = 2;

/** Lets a number of things through at a time. */
export class Gate {
  private inside = 0;
  private readonly waiting = new Set<() => void>();

  constructor(
    private readonly most: number,
    /** How long the next one waits for a place, milliseconds. */
    private readonly patience: number,
  ) {}

  /** Runs `work` when there is a place. @throws Unavailable when none came free in time */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.enter();
    try {
      return await work();
    } finally {
      this.inside--;
      const next = this.waiting.values().next();
      if (!next.done) next.value();
    }
  }

  private async enter(): Promise<void> {
    const deadline = Date.now() + this.patience;
    while (this.inside >= this.most) {
      const left = deadline - Date.now();
      if (left <= 0) throw new Unavailable(RETRY_AFTER, 'Too many uploads at a time, try again later.');
      await this.change(left);
    }
    this.inside++;
  }

  private change(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.waiting.add(wake);
    });
  }
}
