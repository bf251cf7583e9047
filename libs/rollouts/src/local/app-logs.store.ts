import { Redaction } from '../logs/redaction';
import { LogLines } from '../logs/log-lines';

/** `WARNING` for what was written to standard error, `ERROR` for what the server says. */
export type AppLogLevel = 'INFO' | 'WARNING' | 'ERROR';

export interface AppLogLine {
  /** Counts from 1 in each deployment. */
  readonly id: number;
  readonly timestamp: string;
  readonly level: AppLogLevel;
  readonly message: string;
}

/** The last lines that a program wrote, without the secrets of its deployment. */
export class AppLogs {
  private entries: AppLogLine[] = [];
  private next = 1;
  private budget: number;
  private refilled = Date.now();
  private dropped = 0;

  /** `most`: lines kept; `rate`: lines a second that are taken in, what is beyond is counted and left out. */
  constructor(
    private readonly most = 2000,
    private readonly rate = 500,
  ) {
    this.budget = rate;
  }

  /** Takes text of one stream of a program; `end` at its end. */
  writer(level: AppLogLevel, secrets: Iterable<string>): { write(text: string): void; end(): void } {
    const lines = new LogLines(new Redaction(secrets));
    const add = (messages: readonly string[]) => {
      for (const message of messages) this.add(level, message);
    };
    return { write: (text) => add(lines.push(text)), end: () => add(lines.end()) };
  }

  add(level: AppLogLevel, message: string): void {
    const now = Date.now();
    this.budget = Math.min(this.rate, this.budget + ((now - this.refilled) * this.rate) / 1000);
    this.refilled = now;
    if (this.budget < 1) {
      this.dropped++;
      return;
    }
    this.budget--;
    if (this.dropped > 0) {
      this.keep('WARNING', `${this.dropped} lines came too fast and were left out.`, now);
      this.dropped = 0;
    }
    this.keep(level, message, now);
  }

  /** The newest entries that fit, oldest first. */
  read(wanted: { level?: AppLogLevel; query?: string; after?: number; limit: number }): AppLogLine[] {
    const { level, query = '', after = 0, limit } = wanted;
    const text = query.toLowerCase();
    return this.entries
      .filter((entry) => entry.id > after && (level === undefined || entry.level === level))
      .filter(({ message }) => message.toLowerCase().includes(text))
      .slice(-limit);
  }

  private keep(level: AppLogLevel, message: string, now: number): void {
    this.entries.push({ id: this.next++, timestamp: new Date(now).toISOString(), level, message });
    if (this.entries.length > this.most) this.entries = this.entries.slice(-this.most);
  }
}
