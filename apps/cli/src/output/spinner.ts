const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const DRAW_MS = 100;

/** A line on a terminal that says what the program waits for, and for how many seconds already. */
export class Spinner {
  private readonly began = Date.now();
  private readonly timer: NodeJS.Timeout;
  private frame = 0;
  private isDrawn = false;

  /** It appears after `afterMs`, so that short waits show nothing. */
  constructor(
    private readonly stream: NodeJS.WritableStream,
    public label: string,
    private readonly afterMs: number,
  ) {
    this.timer = setInterval(() => this.draw(), DRAW_MS).unref();
  }

  /** Makes room for something else; it is drawn again below that. */
  clear(): void {
    if (this.isDrawn) this.stream.write('\r\u001b[K');
    this.isDrawn = false;
  }

  stop(): void {
    clearInterval(this.timer);
    this.clear();
  }

  private draw(): void {
    const waitedMs = Date.now() - this.began;
    if (waitedMs < this.afterMs) return;
    const frame = FRAMES[this.frame++ % FRAMES.length];
    this.stream.write(`\r\u001b[K${frame} ${this.label} ${Math.floor(waitedMs / 1000)} s`);
    this.isDrawn = true;
  }
}
