import { isUtf8 } from 'node:buffer';
import { setImmediate as otherRequests } from 'node:timers/promises';
import { PayloadTooLarge, Unprocessable } from './errors';
import { findJsonFault } from './json-fault';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const PIECE = 65_536;
/** Number of bytes that are scanned in one turn of the event loop. */
const TURN_BYTES = 512 * 1024;
/** Default for the largest number of members and elements of a JSON body. */
export const MOST_VALUES = 20_000;

/** The body contains more values than the limit allows. */
class TooManyValues extends PayloadTooLarge {
  constructor(most: number) {
    super(`The JSON holds more than ${most} values (BODY_MAX_VALUES).`);
  }
}

/**
 * Parses a JSON text in UTF-8, with at most `depth` levels of nesting and at most `values` members and elements: the
 * cost of parsing and checking grows with their number more than with the bytes.
 * @throws Unprocessable `json_invalid` with the position of the first fault, TooManyValues
 */
export function parseJson(bytes: Buffer, depth: number, values = MOST_VALUES): unknown {
  requireUtf8(bytes);
  requireDepth(bytes, new NestingScan(bytes, depth, values).run(bytes.length), depth);
  return parsed(bytes.toString('utf8', textStart(bytes)));
}

/** As `parseJson`, but lets the event loop run between pieces of a large text. */
export async function parseJsonInTurns(bytes: Buffer, depth: number, values = MOST_VALUES): Promise<unknown> {
  if (bytes.length <= TURN_BYTES) return parseJson(bytes, depth, values);
  requireUtf8(bytes);
  const scan = new NestingScan(bytes, depth, values);
  for (let end = TURN_BYTES; ; end += TURN_BYTES) {
    requireDepth(bytes, scan.run(Math.min(end, bytes.length)), depth);
    await otherRequests();
    if (end >= bytes.length) break;
  }
  let text = '';
  for (let start = textStart(bytes); start < bytes.length;) {
    let end = Math.min(start + TURN_BYTES, bytes.length);
    while (isContinuation(bytes[end])) end--;
    text += bytes.toString('utf8', start, end);
    start = end;
    await otherRequests();
  }
  return parsed(text);
}

function requireUtf8(bytes: Buffer): void {
  if (!isUtf8(bytes)) throw jsonInvalid('The text is not valid UTF-8', validCharacters(bytes));
}

function requireDepth(bytes: Buffer, tooDeep: number, depth: number): void {
  if (tooDeep < 0) return;
  throw jsonInvalid(
    `The nesting is deeper than the limit of ${depth} levels (MAX_DEPTH)`,
    charactersIn(bytes, tooDeep),
  );
}

/** Returns the offset of the text, after a byte order mark. */
function textStart(bytes: Buffer): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const fault = findJsonFault(text);
    throw jsonInvalid(fault?.error ?? 'Expecting value', fault?.position ?? 0);
  }
}

/** Returns the error for a body that is not JSON. `position` counts characters from 0. */
function jsonInvalid(error: string, position: number): Unprocessable {
  const loc = ['body', position];
  return new Unprocessable([{ type: 'json_invalid', loc, msg: 'JSON decode error', input: {}, ctx: { error } }]);
}

/** Scans a JSON text, piece by piece, for too many levels of nesting and too many values. */
class NestingScan {
  private at = 0;
  private level = 0;
  private isText = false;

  constructor(
    private readonly bytes: Buffer,
    private readonly most: number,
    private readonly values: number,
    private left = values,
  ) {}

  /**
   * Scans up to `end`. Returns the offset of the first bracket that opens one level too many, or -1. @throws
   * TooManyValues
   */
  run(end: number): number {
    const { bytes } = this;
    let i = this.at;
    while (i < end) {
      if (this.isText) {
        while (i < end && bytes[i] !== QUOTE) i += bytes[i] === BACKSLASH ? 2 : 1;
        if (i < end) this.isText = false;
      } else {
        const byte = bytes[i] as number;
        if (byte === QUOTE) this.isText = true;
        else if (byte === COMMA) this.count();
        else if ((byte | 0x20) === 0x7b) {
          if (++this.level > this.most) return i;
          this.count();
        } else if ((byte | 0x20) === 0x7d) this.level--;
      }
      if (i < end) i++;
    }
    this.at = i;
    return -1;
  }

  private count(): void {
    if (--this.left < 0) throw new TooManyValues(this.values);
  }
}

/** Returns the number of characters before the first byte that is not valid UTF-8. */
function validCharacters(bytes: Buffer): number {
  let start = 0;
  for (;;) {
    let end = Math.min(start + PIECE, bytes.length);
    while (end > start + 1 && isContinuation(bytes[end])) end--;
    if (!isUtf8(bytes.subarray(start, end))) return charactersIn(bytes, start) + validIn(bytes.subarray(start, end));
    start = end;
  }
}

function validIn(bytes: Buffer): number {
  const text = bytes.toString('utf8');
  let valid = 0;
  let characters = 0;
  for (const character of text) {
    const size = Buffer.byteLength(character);
    if (character === '\ufffd' && !bytes.subarray(valid, valid + 3).equals(Buffer.from('\ufffd'))) break;
    valid += size;
    characters++;
  }
  return characters;
}

/** Returns the number of characters of valid UTF-8 before a byte offset. */
function charactersIn(bytes: Buffer, end: number): number {
  let count = 0;
  for (let i = 0; i < end; i++) if (!isContinuation(bytes[i])) count++;
  return count;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
