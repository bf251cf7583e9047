import { isUtf8 } from 'node:buffer';
import { Unprocessable } from './errors';
import { countCharacters, findJsonFault } from './json-fault';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * The value of a JSON text in UTF-8, nested at most `depth` levels.
 * @throws Unprocessable `json_invalid` with the position of the first fault.
 */
export function parseJson(bytes: Buffer, depth: number): unknown {
  if (!isUtf8(bytes)) throw jsonInvalid('The text is not valid UTF-8', validCharacters(bytes));
  const tooDeep = findDepth(bytes, depth);
  if (tooDeep >= 0) {
    const position = countCharacters(bytes.toString('utf8', 0, tooDeep));
    throw jsonInvalid(`The nesting is deeper than the limit of ${depth} levels`, position);
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

/** Byte offset of the first bracket that opens one level too many, or -1. */
function findDepth(bytes: Buffer, most: number): number {
  let depth = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (byte === QUOTE) {
      for (i++; i < bytes.length && bytes[i] !== QUOTE; i++) if (bytes[i] === BACKSLASH) i++;
    } else if ((byte | 0x20) === 0x7b) {
      if (++depth > most) return i;
    } else if ((byte | 0x20) === 0x7d) depth--;
  }
  return -1;
}

function validCharacters(bytes: Buffer): number {
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
