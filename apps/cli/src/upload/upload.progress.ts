import { SingleBar } from 'cli-progress';
import type { Output } from '../output/output';
import { bytes, counted } from '../output/text';

const TELL_MS = 10_000;
const DRAW_MS = 100;

/** Tells on stderr how an upload goes: a bar on a terminal, a line now and then elsewhere. */
export class UploadProgress {
  private read = 0;
  private rows = 0;
  private readonly began = Date.now();
  private readonly bar: SingleBar | undefined;
  private readonly timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly out: Output,
    private readonly title: string,
    private readonly total: number | undefined,
  ) {
    if (out.watched && total !== undefined) {
      this.bar = new SingleBar({
        stream: process.stderr,
        format: `${title}  {bar}  {percentage} %  {said}`,
        barCompleteChar: '█',
        barIncompleteChar: '░',
        barsize: 30,
        hideCursor: true,
        clearOnComplete: true,
        gracefulExit: false,
        fps: 1000 / DRAW_MS,
      });
      this.bar.start(Math.max(1, total), 0, { said: '' });
    } else if (!out.json) {
      this.timer = setInterval(() => out.note(`${title}: ${this.said}`), TELL_MS).unref();
    }
  }

  addBytes(count: number): void {
    this.read += count;
    this.bar?.update(this.read, { said: this.said });
  }

  addRow(): void {
    this.rows++;
  }

  /** Starts over, as when a request is repeated. */
  restart(): void {
    this.read = 0;
    this.rows = 0;
  }

  /** Takes the bar away. */
  stop(): void {
    clearInterval(this.timer);
    this.bar?.stop();
  }

  /** Prints the result in a line. */
  done(): void {
    this.stop();
    if (!this.out.json) this.out.note(`${this.title}: ${this.said}`);
  }

  private get said(): string {
    const elapsed = Math.max(0.001, (Date.now() - this.began) / 1000);
    const of = this.total === undefined || this.read >= this.total ? '' : ` of ${bytes(this.total)}`;
    const rows = this.rows > 0 ? `, ${counted(this.rows, 'row')}` : '';
    return `${bytes(this.read)}${of}, ${bytes(Math.round(this.read / elapsed))}/s${rows}`;
  }
}
