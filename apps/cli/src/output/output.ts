import { JqFilter } from './jq';
import { Spinner } from './spinner';
import { type Cell, type Column, tableLines } from './table';
import { clean } from './text';

const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;
export type Style = keyof typeof CODES;

interface OutputOptions {
  /** Machine output: JSON on stdout, errors as JSON on stderr. */
  readonly json: boolean;
  /** False when the user asked for none. */
  readonly color: boolean;
  /** Filter of jq for the JSON on stdout. */
  readonly jq?: string;
}

/** Where a command writes: results to stdout; notes, progress and errors to stderr. */
export class Output {
  readonly json: boolean;
  /** True when somebody watches stderr. */
  readonly watched = process.stderr.isTTY === true && process.env.TERM !== 'dumb';
  private spinner: Spinner | undefined;
  private readonly colored: { readonly out: boolean; readonly err: boolean };

  private readonly filter: JqFilter | undefined;
  /** Resolves when the results of all filtered texts so far are written. */
  private filtering: Promise<void> = Promise.resolve();

  constructor({ json, color, jq }: OutputOptions) {
    this.json = json || jq !== undefined;
    this.filter = jq === undefined ? undefined : new JqFilter(jq);
    const wanted = color && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
    this.colored = { out: wanted && process.stdout.isTTY === true, err: wanted && process.stderr.isTTY === true };
  }

  /** Colours text for stdout, where it goes to a terminal. */
  readonly paint = (style: Style, text: string): string => (this.colored.out ? painted(style, text) : text);

  /** A cell of a table in a colour. */
  readonly cell = (style: Style, text: string): Cell => ({ text, paint: (part) => this.paint(style, part) });

  /** Columns of the terminal; unlimited where output goes elsewhere. */
  get columns(): number {
    return process.stdout.isTTY ? process.stdout.columns || 80 : Infinity;
  }

  /**
   * Does something that takes a while. On a terminal a line says what is waited for and since when; `tell` changes its
   * words. Within another wait nothing more is shown.
   */
  async waiting<T>(label: string, work: (tell: (label: string) => void) => Promise<T>, afterMs = 0): Promise<T> {
    if (!this.watched || this.spinner) return work(() => undefined);
    const spinner = new Spinner(process.stderr, clean(label), afterMs);
    this.spinner = spinner;
    try {
      return await work((text) => void (spinner.label = clean(text)));
    } finally {
      spinner.stop();
      this.spinner = undefined;
    }
  }

  line(text = ''): void {
    this.spinner?.clear();
    process.stdout.write(`${text}\n`);
  }

  /** JSON text as it is, or what the filter makes of it. */
  text(json: string): void {
    this.spinner?.clear();
    const { filter } = this;
    if (!filter) process.stdout.write(json.endsWith('\n') ? json : `${json}\n`);
    else this.filtering = this.filtering.then(() => filter.write(json, (lines) => void process.stdout.write(lines)));
    // `finished` rejects for it.
    this.filtering.catch(() => undefined);
  }

  /** True when JSON is filtered before it is printed. */
  get filters(): boolean {
    return this.filter !== undefined;
  }

  /** @throws Usage when the filter is none */
  async checkFilter(): Promise<void> {
    await this.filter?.check();
  }

  /** Resolves when everything is written. @throws Usage when the filter failed */
  finished(): Promise<void> {
    return this.filtering;
  }

  table(columns: readonly Column[], rows: readonly (readonly Cell[])[]): void {
    for (const line of tableLines(columns, rows, (text) => this.paint('dim', text), this.columns)) this.line(line);
  }

  /** Lines of a name and a value each. */
  facts(facts: readonly (readonly [string, string | undefined])[]): void {
    const shown = facts.filter((fact): fact is readonly [string, string] => fact[1] !== undefined);
    const widest = Math.max(...shown.map(([name]) => name.length));
    for (const [name, value] of shown) this.line(`${this.paint('dim', name.padEnd(widest))}  ${value}`);
  }

  /** Something to know that is no result. */
  note(text: string): void {
    this.spinner?.clear();
    process.stderr.write(`${text}\n`);
  }

  warn(text: string): void {
    this.note(this.colored.err ? `${painted('yellow', 'Warning:')} ${text}` : `Warning: ${text}`);
  }

  error(message: string): void {
    const lines = message.split('\n').map(clean);
    const mark = this.colored.err ? painted('red', 'Error:') : 'Error:';
    this.note(`${mark} ${lines.join('\n')}`);
  }
}

function painted(style: Style, text: string): string {
  const [on, off] = CODES[style];
  return `\u001b[${on}m${text}\u001b[${off}m`;
}
