const EVERY_MS = 60_000;

/** Tells of a failure that lasts: when it begins, and then once a minute, however often the work is tried. */
export class Complaint {
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

  /** It works again: the next failure is a new one. */
  worked(): void {
    this.toldAt = -Infinity;
  }
}
