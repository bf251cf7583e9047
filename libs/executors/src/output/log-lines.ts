import type { Redaction } from './redaction';

/** Longest line of a log, in characters; longer ones are told in pieces. */
export const LONGEST_LINE = 16_384;

/** Cuts a stream of text into lines without secrets. */
export class LogLines {
  private rest = '';

  constructor(private readonly redaction: Redaction) {}

  push(text: string): string[] {
    return this.pushSome(text, Infinity).lines;
  }

  /** The lines that are complete with this text, at most so many, and as they came those that are left out. */
  pushSome(text: string, most: number): { readonly lines: string[]; readonly left: readonly string[] } {
    const all = (this.rest + text).split(/\r?\n|\r(?!$)/);
    this.rest = all.pop() ?? '';
    const complete = all.filter((line) => line !== '');
    const lines = this.safe(complete.slice(0, most));
    if (this.rest.length > LONGEST_LINE + this.redaction.reach) this.rest = clean(this.rest);
    while (this.rest.length > LONGEST_LINE + this.redaction.reach) lines.push(...this.takePiece());
    return { lines, left: complete.slice(most) };
  }

  /** Lines without secrets, the long ones in pieces. */
  safe(lines: readonly string[]): string[] {
    return lines.flatMap((line) => this.pieces(line));
  }

  end(): string[] {
    const last = this.pieces(this.rest);
    this.rest = '';
    return last;
  }

  private pieces(line: string): string[] {
    // What is cleaned away could stand in the middle of a secret.
    const safe = clean(this.redaction.apply(clean(line)));
    const pieces: string[] = [];
    for (let at = 0; at < safe.length; at += LONGEST_LINE) pieces.push(safe.slice(at, at + LONGEST_LINE));
    return pieces;
  }

  private takePiece(): string[] {
    const end = this.redaction.cut(this.rest, LONGEST_LINE);
    const piece = this.rest.slice(0, end);
    this.rest = this.rest.slice(end);
    return this.pieces(piece);
  }
}

// Colours and cursor movements of terminals; a log shows neither these nor what PostgreSQL's text cannot hold.
const ESCAPE = String.fromCharCode(27);
const TERMINAL = new RegExp(`${ESCAPE}\\[[0-?]*[ -/]*[@-~]`, 'g');

function clean(text: string): string {
  return Buffer.from(text.replaceAll('\0', '').replaceAll(TERMINAL, '')).toString();
}
