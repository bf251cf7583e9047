import { eachMember, stringValue } from './json-slices';

const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const SMALL_N = 0x6e;
/** Code of the digit 9. A JSON value that begins at or below it, and is no text, is a number. */
const DIGIT_9 = 0x39;

interface Known {
  readonly bytes: Buffer;
  readonly place: number;
}

/** Names of members to look for: those of an object are told apart by their bytes, without a string for each. */
export class MemberNames<Name extends string> {
  private readonly places = new Map<string, number>();
  private readonly byLength: Known[][] = [];

  constructor(names: readonly Name[]) {
    for (const [place, name] of names.entries()) {
      const bytes = Buffer.from(name);
      (this.byLength[bytes.length] ??= []).push({ bytes, place });
      this.places.set(name, place);
    }
  }

  /** The members of these names. `json` must be one valid JSON object; of a name that occurs twice the last counts. */
  of(json: Buffer): NamedMembers<Name> {
    const spans: number[] = new Array<number>(2 * this.places.size).fill(0);
    eachMember(json, (nameStart, nameEnd, start, end) => {
      const place = this.find(json, nameStart, nameEnd);
      if (place < 0) return;
      spans[2 * place] = start;
      spans[2 * place + 1] = end;
    });
    return new NamedMembers<Name>(json, this.places, spans);
  }

  /** The place of the name whose token is there, -1 for another. */
  private find(json: Buffer, start: number, end: number): number {
    const length = end - start - 2;
    for (const { bytes, place } of this.byLength[length] ?? []) {
      let i = 0;
      while (i < length && bytes[i] === json[start + 1 + i]) i++;
      if (i === length) return place;
    }
    // No name that is looked for has a backslash, but every character may be sent as an escape.
    return isEscaped(json, start, end) ? (this.places.get(stringValue(json, start, end)) ?? -1) : -1;
  }
}

/** Members of an object by name, as the bytes they were sent in; null is the same as absent. */
export class NamedMembers<Name extends string> {
  constructor(
    private readonly json: Buffer,
    private readonly places: ReadonlyMap<string, number>,
    /** Start and end by place, both 0 for what is absent. */
    private readonly spans: readonly number[],
  ) {}

  /** The bytes, sharing the object's memory. */
  raw(name: Name): Buffer | null {
    const [start, end] = this.span(name);
    return end === 0 ? null : this.json.subarray(start, end);
  }

  characters(name: Name): Buffer | null {
    const [start, end] = this.span(name);
    if (end === 0 || this.json[start] !== QUOTE) return null;
    if (isEscaped(this.json, start, end)) return Buffer.from(stringValue(this.json, start, end));
    return this.json.subarray(start + 1, end - 1);
  }

  value(name: Name): unknown {
    const [start, end] = this.span(name);
    if (end === 0) return null;
    const { json } = this;
    if (json[start] === QUOTE) return stringValue(json, start, end);
    const text = json.toString('latin1', start, end);
    return json[start]! <= DIGIT_9 ? Number(text) : (JSON.parse(text) as unknown);
  }

  private span(name: Name): readonly [number, number] {
    const at = 2 * this.places.get(name)!;
    const start = this.spans[at]!;
    const end = this.spans[at + 1]!;
    return end - start === 4 && this.json[start] === SMALL_N ? NOTHING : [start, end];
  }
}

const NOTHING = [0, 0] as const;

function isEscaped(json: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (json[i] === BACKSLASH) return true;
  return false;
}
