/** Work that a process repeats for as long as it lives, one round at a time. */
export class PeriodicWork {
  private timer: NodeJS.Timeout | undefined;
  private round: Promise<void> | undefined;

  constructor(
    private readonly work: () => unknown,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** Begins a round every `ms` milliseconds. A round that takes longer replaces those that would begin meanwhile. */
  start(ms: number): void {
    this.timer ??= setInterval(() => void this.run(), ms).unref();
  }

  /** Runs a round now, or joins the one that runs. Never rejects: failures are passed to `failed`. */
  run(): Promise<void> {
    this.round ??= this.attempt().finally(() => (this.round = undefined));
    return this.round;
  }

  /** Begins no further round, and resolves when the running one has ended. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.timer = undefined;
    await this.round;
  }

  private async attempt(): Promise<void> {
    try {
      await this.work();
    } catch (error) {
      this.failed(error);
    }
  }
}
