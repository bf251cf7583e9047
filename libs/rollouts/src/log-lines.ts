import type { Redaction } from './redaction';

/** Longest line of a log, in characters; longer ones are told in pieces. */
export const LONGEST_LINE = 16_384;

/** Cuts a stream of text into lines without secrets. */
export class LogLines {
  private rest = '';

  constructor(private readonly redaction: Redaction) {}

  /** The lines that are complete with this text. */
  push(text: string): string[] {
    const lines = (this.rest + text).split(/\r?\n|\r(?!$)/);
    this.rest = lines.pop() ?? '';
    const whole = lines.flatMap((line) => this.pieces(line));
    while (this.rest.length > LONGEST_LINE + this.redaction.reach) whole.push(this.takePiece());
    return whole;
  }

  /** What is left at the end of the stream. */
  end(): string[] {
    const last = this.pieces(this.rest);
    this.rest = '';
    return last;
  }

  private pieces(line: string): string[] {
    const safe = clean(this.redaction.apply(line));
    const pieces: string[] = [];
    for (let at = 0; at < safe.length; at += LONGEST_LINE) pieces.push(safe.slice(at, at + LONGEST_LINE));
    return pieces;
  }

  private takePiece(): string {
    // A secret as long as the line is told by its first piece alone.
    const end = this.redaction.cut(this.rest, LONGEST_LINE) || LONGEST_LINE + this.redaction.reach;
    const piece = clean(this.redaction.apply(this.rest.slice(0, end)));
    this.rest = this.rest.slice(end);
    return piece;
  }
}

// Colours and cursor movements of terminals; a log shows neither these nor what PostgreSQL's text cannot hold.
const ESCAPE = String.fromCharCode(27);
const TERMINAL = new RegExp(`${ESCAPE}\\[[0-?]*[ -/]*[@-~]`, 'g');

function clean(text: string): string {
  return Buffer.from(text.replaceAll(TERMINAL, '').replaceAll('\0', '')).toString();
}
