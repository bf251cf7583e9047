const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
/** Most strings end this early; a call of the native search costs as much as reading this many bytes. */
const NEAR_BYTES = 24;

/** Told where the name of a member, quotes included, and its value begin and end. */
type MemberVisit = (nameStart: number, nameEnd: number, start: number, end: number) => void;

/** Walks the members of an object in the order they were sent. Of what is no valid JSON object it visits anything. */
export function eachMember(json: Buffer, visit: MemberVisit): void {
  let i = skipSpace(json, 1 + skipSpace(json, 0));
  while (json[i] === QUOTE) {
    const nameEnd = valueEnd(json, i);
    const start = skipSpace(json, 1 + skipSpace(json, nameEnd));
    const end = valueEnd(json, start);
    visit(i, nameEnd, start, end);
    i = skipSpace(json, end);
    if (json[i] === COMMA) i = skipSpace(json, i + 1);
  }
}

/**
 * The members of an object as the bytes they were sent in, by name; of a name that occurs twice the last counts, as
 * JSON.parse has it. `json` must be one valid JSON object. The slices share its memory.
 */
export function memberSlices(json: Buffer): Map<string, Buffer> {
  const members = new Map<string, Buffer>();
  eachMember(json, (nameStart, nameEnd, start, end) => {
    members.set(stringValue(json, nameStart, nameEnd), json.subarray(start, end));
  });
  return members;
}

/**
 * The elements of an array as the bytes they were sent in. Of an array that is not valid JSON it gives elements up to
 * the first that is missing; each of them may be no JSON.
 */
export function elementSlices(json: Buffer): Buffer[] {
  const elements: Buffer[] = [];
  let i = skipSpace(json, 1 + skipSpace(json, 0));
  while (i < json.length && json[i] !== 0x5d) {
    const end = valueEnd(json, i);
    if (end === i) break;
    elements.push(json.subarray(i, end));
    i = skipSpace(json, end);
    if (json[i] === COMMA) i = skipSpace(json, i + 1);
  }
  return elements;
}

export function stringValue(json: Buffer, start = 0, end = json.length): string {
  const text = json.toString('utf8', start + 1, end - 1);
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}

/** The slice, or undefined when it is absent or the literal null. */
export function present(slice: Buffer | undefined): Buffer | undefined {
  return slice === undefined || (slice.length === 4 && slice[0] === 0x6e) ? undefined : slice;
}

/** True when nothing is lost with a value: null, and empty texts, lists and objects. */
export function isNothing(slice: Buffer): boolean {
  return slice.length <= 4 && ['null', '""', '[]', '{}'].includes(slice.toString('latin1'));
}

function skipSpace(json: Buffer, start: number): number {
  let i = start;
  while (i < json.length && json[i]! <= 0x20) i++;
  return i;
}

function valueEnd(json: Buffer, start: number): number {
  const first = json[start];
  if (first === QUOTE) return stringEnd(json, start + 1) + 1;
  if (first !== 0x7b && first !== 0x5b) {
    let i = start;
    while (i < json.length && isScalar(json[i]!)) i++;
    return i;
  }
  let depth = 0;
  for (let i = start; i < json.length; i++) {
    const byte = json[i]!;
    if (byte === QUOTE) i = stringEnd(json, i + 1);
    else if (byte === 0x7b || byte === 0x5b) depth++;
    else if ((byte === 0x7d || byte === 0x5d) && --depth === 0) return i + 1;
  }
  return json.length;
}

function isScalar(byte: number): boolean {
  return byte > 0x20 && byte !== COMMA && byte !== 0x5d && byte !== 0x7d;
}

/**
 * The place of the quote that ends a string whose next byte is at `start`. Without one in this chunk the chunk's length,
 * or one more when its last byte escapes the first of the next chunk.
 */
export function stringEnd(chunk: Buffer, start: number): number {
  const { length } = chunk;
  let i = start;
  for (;;) {
    const near = Math.min(i + NEAR_BYTES, length);
    let byte = 0;
    while (i < near && (byte = chunk[i]!) !== QUOTE && byte !== BACKSLASH) i++;
    if (i < near && byte === QUOTE) return i;
    if (i >= length) return length;
    // In a long string the native search is several times faster; a quote after an odd number of backslashes is escaped.
    const first = i;
    const found = chunk.indexOf(QUOTE, i);
    const end = found < 0 ? length : found;
    let backslashes = 0;
    while (end - backslashes > first && chunk[end - backslashes - 1] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end;
    i = end + 1;
    if (i > length) return i;
  }
}
