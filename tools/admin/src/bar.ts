import { SingleBar } from 'cli-progress';

/** A progress bar on standard error; where that is no terminal, a line every five seconds. */
export class Bar {
  private readonly bar = new SingleBar({
    format: '{label} [{bar}] {percentage}% | {events} events, {rate}/s | {eta_formatted} left',
    stream: process.stderr,
    noTTYOutput: true,
    notTTYSchedule: 5000,
    hideCursor: true,
    barsize: 30,
  });
  private started = 0;
  private label = '';

  /** Shows how far `label` has come, as positions of the log. */
  show(label: string, position: bigint, until: bigint, events: number): void {
    if (label !== this.label) {
      this.stop();
      this.label = label;
      this.started = Date.now();
      this.bar.start(Number(until), 0, { label, events: 0, rate: 0 });
    }
    const seconds = Math.max((Date.now() - this.started) / 1000, 0.001);
    this.bar.setTotal(Number(until));
    this.bar.update(Number(position), { label, events, rate: Math.round(events / seconds) });
  }

  stop(): void {
    if (this.label !== '') this.bar.stop();
    this.label = '';
  }
}
