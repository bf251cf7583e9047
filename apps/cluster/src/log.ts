interface Entry {
  readonly level?: unknown;
  readonly time?: unknown;
  readonly msg?: unknown;
  readonly method?: unknown;
  readonly path?: unknown;
  readonly status?: unknown;
  readonly ms?: unknown;
  readonly err?: { readonly message?: unknown; readonly stack?: unknown };
}

const LEVELS = new Map([
  [10, 'trace'],
  [20, 'debug'],
  [30, 'info'],
  [40, 'warn'],
  [50, 'error'],
  [60, 'fatal'],
]);
/** Characters that move a terminal's cursor or change its state, and marks that reorder text. */
// eslint-disable-next-line no-control-regex
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/** Members that are told in words, or that every line of a process repeats. */
const TOLD = new Set(['level', 'time', 'msg', 'method', 'path', 'status', 'ms', 'err', 'pid', 'hostname']);
const [RED, YELLOW, GRAY] = [31, 33, 90];
/** Tell apart who speaks. */
const COLORS = [36, 32, 35, 34, 96, 92, 95];

/** Lines for people: who says it, when, how loud, and what; in colours for a terminal. */
export class Log {
  private readonly paint: (text: string, color: number) => string;
  private readonly speakers = new Map<string, number>();

  constructor(
    private readonly write: (line: string) => void,
    colors: boolean,
    /** Width of the column of names. */
    private readonly width: number,
  ) {
    this.paint = colors ? (text, color) => `\u001b[${color}m${text}\u001b[0m` : (text) => text;
  }

  /** Writes a line of a process, which may be an entry in JSON. */
  say(name: string, line: string): void {
    const said = this.entry(line) ?? line;
    this.write(`${this.paint(`${name.padEnd(this.width)} |`, this.colorOf(name))} ${said}`);
  }

  private colorOf(name: string): number {
    const known = this.speakers.get(name) ?? COLORS[this.speakers.size % COLORS.length]!;
    this.speakers.set(name, known);
    return known;
  }

  private entry(line: string): string | undefined {
    const entry = parse(line);
    if (typeof entry?.level !== 'number' || typeof entry.time !== 'number') return undefined;
    const level = LEVELS.get(entry.level) ?? String(entry.level);
    const time = this.paint(new Date(entry.time).toISOString().slice(11, 23), GRAY);
    const loud = entry.level >= 50 ? RED : entry.level >= 40 ? YELLOW : GRAY;
    const rest = Object.entries(entry).filter(([member]) => !TOLD.has(member));
    const details = rest.map(
      ([member, value]) => `${member}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    );
    const words = [
      ...[time, this.paint(level.padEnd(5), loud)],
      ...[plain(headline(entry)), this.paint(plain(details.join(' ')), GRAY)],
    ];
    const stack = entry.err?.stack ?? entry.err?.message;
    return words.join(' ').trimEnd() + (typeof stack === 'string' ? `\n${plain(stack)}` : '');
  }
}

function plain(text: string): string {
  return text.replaceAll(UNSAFE, '\ufffd');
}

function headline({ method, path, status, ms, msg }: Entry): string {
  if (typeof method === 'string' && typeof path === 'string')
    return `${method} ${path} ${String(status)} ${String(ms)} ms`;
  return typeof msg === 'string' ? msg : '';
}

function parse(line: string): (Entry & Record<string, unknown>) | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as Entry & Record<string, unknown>;
  } catch {
    return undefined;
  }
}
