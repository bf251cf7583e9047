const EVERY_MS = 60_000;

/** Logs a repeated failure the first time, and then at most once a minute, until the work succeeds. */
export class ThrottledWarning {
  private toldAt = -Infinity;

  constructor(
    private readonly tell: (text: string) => void,
    private readonly now: () => number = () => performance.now(),
  ) {}

  failed(text: string): void {
    if (this.now() - this.toldAt < EVERY_MS) return;
    this.toldAt = this.now();
    this.tell(text);
  }

  /** Notes that the work has succeeded: the next failure is logged at once. */
  worked(): void {
    this.toldAt = -Infinity;
  }
}
