/** What stands in a log where a secret was. */
export const REDACTED = '[redacted]';
/** Shorter values are part of too many words, and no log could hide them. */
const SHORTEST = 4;

/** Finds secrets in text: as they are, line by line, and in the encodings that programs commonly print. */
export class Redaction {
  /** Longest first, so that a secret that holds another goes whole. */
  private readonly needles: readonly string[];
  /** Characters of the longest thing that is looked for. */
  readonly reach: number;

  constructor(values: Iterable<string>) {
    const needles = new Set([...values].flatMap(spellings).filter(({ length }) => length >= SHORTEST));
    this.needles = [...needles].sort((a, b) => b.length - a.length);
    this.reach = this.needles[0]?.length ?? 0;
  }

  apply(text: string): string {
    return this.needles.reduce((safe, needle) => safe.replaceAll(needle, REDACTED), text);
  }

  /** The last place at or before `end` where the text can be cut without cutting through a secret. */
  cut(text: string, end: number): number {
    let place = end;
    for (let moved = true; moved;) {
      moved = false;
      for (const needle of this.needles) {
        const start = text.indexOf(needle, Math.max(0, place - needle.length + 1));
        if (start < 0 || start >= place) continue;
        place = start;
        moved = true;
      }
    }
    return place;
  }
}

function spellings(value: string): string[] {
  const whole = [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(Buffer.from(value).toString()),
    Buffer.from(value).toString('base64'),
    Buffer.from(value).toString('base64url'),
  ];
  return value.includes('\n') ? [...whole, ...value.split(/\r?\n/).map((line) => line.trim())] : whole;
}
