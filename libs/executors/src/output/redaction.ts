import { spellings } from './secret-spellings';

/** Text that replaces a secret in a log. */
export const REDACTED = '[redacted]';
/** Characters by which a piece of an encoded secret at the start or end of a line is known. */
const PIECE = 8;
/** Places at which one such piece may occur in the encoded secrets; later ones are not looked at. */
const MOST_PLACES = 100;
/** Needles are found by their first characters; none is shorter. */
const START = 4;
const BASE64 = /[\w+/-]/;

/** Characters of a text, from the first one up to but not including the last one. */
type Span = readonly [start: number, end: number];

/**
 * Finds secrets in text: as they are, line by line, and in the encodings that programs commonly print, alone or as a part
 * of a longer encoded text, also where a program wraps hex or Base64 into lines.
 */
export class Redaction {
  /** By their first characters, longest first. */
  private readonly needles = new Map<string, { text: string; before: 0 | 1; after: 0 | 1 }[]>();
  /** Hex and Base64, one a line. */
  private readonly encoded: string;
  /** Characters of the longest thing that is looked for. */
  readonly reach: number;

  constructor(values: Iterable<string>) {
    const all = new Map([...values].flatMap(spellings).map((spelling) => [spelling.text, spelling]));
    const longestFirst = [...all.values()].sort((a, b) => b.text.length - a.text.length);
    for (const { text, before = 0, after = 0 } of longestFirst) {
      const start = text.slice(0, START);
      const needle = { text, before, after };
      const known = this.needles.get(start);
      if (known) known.push(needle);
      else this.needles.set(start, [needle]);
    }
    this.encoded = longestFirst.flatMap(({ text, wraps }) => (wraps ? [text] : [])).join('\n');
    this.reach = (longestFirst[0]?.text.length ?? 0) + 2;
  }

  apply(line: string): string {
    let safe = '';
    let at = 0;
    for (const [start, end] of joined([...this.find(line), ...this.pieces(line)])) {
      safe += line.slice(at, start) + REDACTED;
      at = end;
    }
    return safe + line.slice(at);
  }

  /** Where the text can be cut without cutting through a secret: at `end` or before it; after it when it begins with one. */
  cut(text: string, end: number): number {
    const through = joined(this.find(text)).find(([start, stop]) => start < end && end < stop);
    return through ? through[0] || through[1] : end;
  }

  private find(text: string): Span[] {
    const spans: Span[] = [];
    for (let at = 0; at + START <= text.length; at++) {
      const needle = this.needles.get(text.slice(at, at + START))?.find((one) => text.startsWith(one.text, at));
      if (!needle) continue;
      const start = needle.before && BASE64.test(text[at - 1] ?? '') ? at - 1 : at;
      let end = at + needle.text.length;
      if (needle.after) {
        if (BASE64.test(text[end] ?? '')) end++;
        while (text[end] === '=') end++;
      }
      spans.push([start, end]);
    }
    return spans;
  }

  /** A line that is the middle of an encoded secret, begins with the end of one, or ends with the beginning of one. */
  private pieces(line: string): Span[] {
    const trimmed = line.trim();
    if (trimmed.length < PIECE || this.encoded === '') return [];
    const start = line.indexOf(trimmed);
    const end = start + trimmed.length;
    const spans: Span[] = [];
    for (const place of this.places(trimmed.slice(0, PIECE))) {
      const stop = this.encoded.indexOf('\n', place);
      const rest = this.encoded.slice(place, stop < 0 ? undefined : stop);
      if (rest.startsWith(trimmed)) spans.push([start, end]);
      else if (trimmed.startsWith(rest)) {
        const beyond = BASE64.test(line[start + rest.length] ?? '') ? 1 : 0;
        spans.push([start, start + rest.length + beyond]);
      }
    }
    for (const place of this.places(trimmed.slice(-PIECE))) {
      const begun = this.encoded.slice(this.encoded.lastIndexOf('\n', place) + 1, place + PIECE);
      if (!trimmed.endsWith(begun)) continue;
      const before = BASE64.test(line[end - begun.length - 1] ?? '') ? 1 : 0;
      spans.push([end - begun.length - before, end]);
    }
    return spans;
  }

  private *places(piece: string): Iterable<number> {
    let place = this.encoded.indexOf(piece);
    for (let found = 0; place >= 0 && found < MOST_PLACES; found++) {
      yield place;
      place = this.encoded.indexOf(piece, place + 1);
    }
  }
}

function joined(spans: readonly Span[]): Span[] {
  const all: [number, number][] = [];
  for (const [start, end] of [...spans].sort((a, b) => a[0] - b[0] || b[1] - a[1])) {
    const last = all.at(-1);
    if (last && start < last[1]) last[1] = Math.max(last[1], end);
    else all.push([start, end]);
  }
  return all;
}
