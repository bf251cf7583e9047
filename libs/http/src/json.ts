import { isUtf8 } from 'node:buffer';
import { PayloadTooLarge, Unprocessable } from './errors';
import { findJsonFault } from './json-fault';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const PIECE = 65_536;
/** Members and elements of a JSON body, unless a setting says otherwise. */
export const MOST_VALUES = 20_000;

/** The body holds more values than are read at once. */
export class TooManyValues extends PayloadTooLarge {
  constructor(most: number) {
    super(`The JSON holds more than ${most} values (BODY_MAX_VALUES).`);
  }
}

/**
 * The value of a JSON text in UTF-8, nested at most `depth` levels and of at most `values` members and elements: what
 * parsing and checking cost grows with their number more than with the bytes.
 * @throws Unprocessable `json_invalid` with the position of the first fault, TooManyValues
 */
export function parseJson(bytes: Buffer, depth: number, values = MOST_VALUES): unknown {
  if (!isUtf8(bytes)) throw jsonInvalid('The text is not valid UTF-8', validCharacters(bytes));
  const tooDeep = findDepth(bytes, depth, values);
  if (tooDeep >= 0) {
    throw jsonInvalid(
      `The nesting is deeper than the limit of ${depth} levels (MAX_DEPTH)`,
      charactersIn(bytes, tooDeep),
    );
  }
  const text = bytes.toString('utf8', bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0);
  try {
    return JSON.parse(text);
  } catch {
    const fault = findJsonFault(text);
    throw jsonInvalid(fault?.error ?? 'Expecting value', fault?.position ?? 0);
  }
}

/** The answer to a body that is not JSON. `position` counts characters from 0. */
export function jsonInvalid(error: string, position: number): Unprocessable {
  const loc = ['body', position];
  return new Unprocessable([{ type: 'json_invalid', loc, msg: 'JSON decode error', input: {}, ctx: { error } }]);
}

/** Byte offset of the first bracket that opens one level too many, or -1. @throws TooManyValues */
function findDepth(bytes: Buffer, most: number, values: number): number {
  let depth = 0;
  let left = values;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (byte === QUOTE) {
      for (i++; i < bytes.length && bytes[i] !== QUOTE; i++) if (bytes[i] === BACKSLASH) i++;
    } else if (byte === COMMA) {
      if (--left < 0) throw new TooManyValues(values);
    } else if ((byte | 0x20) === 0x7b) {
      if (++depth > most) return i;
      if (--left < 0) throw new TooManyValues(values);
    } else if ((byte | 0x20) === 0x7d) depth--;
  }
  return -1;
}

/** How many characters stand before the first byte that is no UTF-8. */
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

/** Characters of valid UTF-8 before a byte offset. */
function charactersIn(bytes: Buffer, end: number): number {
  let count = 0;
  for (let i = 0; i < end; i++) if (!isContinuation(bytes[i])) count++;
  return count;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
