import { LONGEST_LINE, type Redaction } from '@fairlead/executors';

/** A stream of text without secrets. What it takes it gives back line by line. */
export class SafeText {
  private rest = '';

  constructor(private readonly redaction: Redaction) {}

  /** The lines that are complete with this text, with their ends; of a long line the pieces that are complete. */
  push(text: string): string {
    this.rest += text;
    let safe = this.take(this.rest.lastIndexOf('\n') + 1);
    while (this.rest.length > LONGEST_LINE + this.redaction.reach) {
      safe += this.take(this.redaction.cut(this.rest, LONGEST_LINE));
    }
    return safe;
  }

  /** The rest at the end of the stream. */
  end(): string {
    return this.take(this.rest.length);
  }

  private take(length: number): string {
    const text = this.rest.slice(0, length);
    this.rest = this.rest.slice(length);
    return safeText(this.redaction, text);
  }
}

/** A text of several lines without secrets. */
export function safeText(redaction: Redaction, text: string): string {
  return text
    .split('\n')
    .map((line) => redaction.apply(line))
    .join('\n');
}
