const LOOK_MS = 100;

/** Ends what makes no progress for too long, so that a store that does not answer ends an audit with an error. */
export class StepLimit {
  private last = Date.now();

  constructor(private readonly ms: number) {}

  /** There was progress. */
  beat(): void {
    this.last = Date.now();
  }

  /**
   * Result of `work`. @throws Error when there is no progress for too long; work that goes on then is not waited for
   */
  async guard<T>(step: string, work: Promise<T>): Promise<T> {
    this.beat();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setInterval(() => {
        if (Date.now() - this.last < this.ms) return;
        reject(new Error(`${step}: no answer for ${this.ms / 1000} seconds. Nothing can be said about it.`));
      }, LOOK_MS);
    });
    work.catch(() => undefined);
    try {
      return await Promise.race([work, late]);
    } finally {
      clearInterval(timer);
      this.beat();
    }
  }
}
