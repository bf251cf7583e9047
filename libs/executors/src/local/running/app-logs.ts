import { stripVTControlCharacters } from 'node:util';
import { LogLines } from '../../output/log-lines';
import { Redaction } from '../../output/redaction';
import { type LineLevel, levelOf, type ProgramLine } from '../../port/line-level';
import type { StreamLevel } from '../isolation/app-process';

export interface LogLimits {
  /** Bytes of the lines that are kept, each counted with OVERHEAD more. */
  readonly bytes: number;
  readonly rate: number;
}

/** The lines of all programs. They share memory: who has none left forgets the lines that are least likely to be read. */
export class AllLogs {
  kept = 0;
  dropped = 0;
  bytes = 0;
  readonly programs = new Set<AppLogs>();

  constructor(private readonly most = Infinity) {}

  /** Makes room after a program has written: first those forget theirs that do not run. */
  makeRoom(writer: AppLogs): void {
    while (this.bytes > this.most) {
      const others = [...this.programs].filter((one) => one !== writer);
      if (others.length === 0) return;
      others.reduce((first, one) => (one.isForgottenBefore(first) ? one : first)).giveWay();
    }
  }
}

const OVERHEAD = 100;
const WINDOW_MS = 1000;
/** Ids for each millisecond, more than there are lines, so that those of the next process of the server are higher. */
const IDS_PER_MS = 1000;
/** Lines of a process that are reported when it does not become ready, and characters of each. */
const LAST_LINES = 60;
const LAST_CHARACTERS = 2000;
const LAST_LINE_CHARACTERS = 300;
/** Empty lines, lines of a stack, and what Node.js writes after an error. */
const SAYS_NOTHING = /^(?:[\s^{}()[\];,]*|at .*|Node\.js v[\d.]+)$/;
/** Forgotten lines at the beginning of the list before it is copied without them. */
const GAP = 1000;

export class AppLogs {
  private entries: ProgramLine[] = [];
  private first = 0;
  private bytes = 0;
  private next = Date.now() * IDS_PER_MS;
  /** When the current second began (ms), and the lines that were taken and dropped in it. */
  private since = -Infinity;
  private taken = 0;
  private dropped = 0;
  private lastUse = -Infinity;

  constructor(
    private readonly limits: LogLimits,
    private readonly all = new AllLogs(),
    private readonly isRunning = () => false,
  ) {}

  written = 0;

  /** Lines that are kept, the oldest first; ids of neighbours differ by one. */
  lines(): readonly ProgramLine[] {
    this.lastUse = performance.now();
    return this.entries.slice(this.first);
  }

  output(secrets: Iterable<string>): ProcessOutput {
    return new ProcessOutput(new Redaction(secrets), {
      room: () => this.room(),
      add: (message, stream) => this.add(message, stream),
      drop: (count) => this.drop(count),
    });
  }

  private add(message: string, stream: StreamLevel): void {
    this.written++;
    if (this.room() === 0) return this.drop(1);
    this.taken++;
    this.keep(levelOf(message, stream), message);
  }

  say(message: string): void {
    this.keep('ERROR', message);
  }

  private room(): number {
    const now = performance.now();
    if (now - this.since >= WINDOW_MS) {
      this.tellDropped();
      this.since = now;
      this.taken = 0;
    }
    return this.limits.rate - this.taken;
  }

  private drop(count: number): void {
    if (count === 0) return;
    // The next line may come late, or never.
    if (this.dropped === 0) setTimeout(() => this.room(), WINDOW_MS + 10).unref();
    this.dropped += count;
    this.all.dropped += count;
  }

  private tellDropped(): void {
    const { dropped } = this;
    this.dropped = 0;
    if (dropped > 0) this.keep('WARNING', `${dropped} ${dropped === 1 ? 'line' : 'lines'} dropped: too many a second.`);
  }

  isForgottenBefore(other: AppLogs): boolean {
    const [one, two] = [this.isRunning(), other.isRunning()];
    return one === two ? this.lastUse < other.lastUse : !one;
  }

  giveWay(): void {
    this.forget();
    this.push('WARNING', 'Earlier lines were dropped: the logs of all deployments together had reached their limit.');
  }

  forget(): void {
    this.all.bytes -= this.bytes;
    this.all.programs.delete(this);
    this.entries = [];
    this.first = 0;
    this.bytes = 0;
  }

  private keep(level: LineLevel, message: string): void {
    this.lastUse = performance.now();
    this.all.kept++;
    this.push(level, message);
    this.all.programs.add(this);
    this.all.makeRoom(this);
  }

  private push(level: LineLevel, message: string): void {
    const line = { id: this.next++, at: Date.now(), level, message };
    this.entries.push(line);
    this.count(bytesOf(line));
    while (this.bytes > this.limits.bytes) {
      this.count(-bytesOf(this.entries[this.first]!));
      this.first++;
    }
    if (this.first < GAP && this.first < this.entries.length) return;
    this.entries = this.entries.slice(this.first);
    this.first = 0;
  }

  private count(bytes: number): void {
    this.bytes += bytes;
    this.all.bytes += bytes;
  }
}

interface LineSink {
  room(): number;
  add(message: string, stream: StreamLevel): void;
  drop(count: number): void;
}

class ProcessOutput {
  readonly last: string[] = [];
  /** The last line of the process that says something, cut; empty when there is none. */
  lastLine = '';
  private readonly streams: Readonly<Record<StreamLevel, LogLines>>;

  constructor(
    redaction: Redaction,
    private readonly sink: LineSink,
  ) {
    this.streams = { INFO: new LogLines(redaction), WARNING: new LogLines(redaction) };
  }

  write(stream: StreamLevel, text: string): void {
    const lines = this.streams[stream];
    const some = lines.pushSome(text, this.sink.room());
    this.take(stream, some.lines);
    this.sink.drop(some.left.length);
    this.remember(lines.safe(some.left.slice(-LAST_LINES)));
  }

  end(): void {
    for (const stream of ['INFO', 'WARNING'] as const) this.take(stream, this.streams[stream].end());
  }

  private take(stream: StreamLevel, lines: readonly string[]): void {
    for (const line of lines) this.sink.add(line, stream);
    this.remember(lines);
  }

  private remember(lines: readonly string[]): void {
    const telling = lines.findLast((line) => !SAYS_NOTHING.test(bare(line)));
    if (telling !== undefined) this.lastLine = bare(telling).slice(0, LAST_LINE_CHARACTERS);
    this.last.push(...lines.slice(-LAST_LINES).map((line) => line.slice(0, LAST_CHARACTERS)));
    this.last.splice(0, Math.max(0, this.last.length - LAST_LINES));
  }
}

function bare(line: string): string {
  return stripVTControlCharacters(line).trim();
}

function bytesOf({ message }: ProgramLine): number {
  return Buffer.byteLength(message) + OVERHEAD;
}
