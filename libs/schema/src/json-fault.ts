/** The first fault of a JSON text, in the words of Python's json module. `position` counts Unicode characters. */
interface JsonFault {
  readonly error: string;
  readonly position: number;
}

class Fault extends Error {
  constructor(
    override readonly message: string,
    readonly index: number,
  ) {
    super(message);
  }
}

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** Characters of a string that need no escape. */
const PLAIN = /[ !#-[\]-\uffff]*/y;
const ESCAPE = /["\\/bfnrt]/;

/** Returns the first fault of a text; undefined when it is JSON. Its nesting must have been checked before. */
export function findJsonFault(text: string): JsonFault | undefined {
  try {
    const end = skip(SPACE, text, value(text, skip(SPACE, text, 0)));
    if (end < text.length) throw new Fault('Extra data', end);
    return undefined;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { error: error.message, position: countCharacters(text.slice(0, error.index)) };
  }
}

/** Returns the number of Unicode characters; a surrogate pair is one. */
function countCharacters(text: string): number {
  let count = text.length;
  let before = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if ((code & 0xfc00) === 0xdc00 && (before & 0xfc00) === 0xd800) count--;
    before = code;
  }
  return count;
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function value(text: string, at: number): number {
  const first = text[at];
  if (first === '"') return string(text, at);
  if (first === '{') return objectEnd(text, at + 1);
  if (first === '[') return listEnd(text, at + 1);
  for (const word of ['null', 'true', 'false']) if (text.startsWith(word, at)) return at + word.length;
  const end = skip(NUMBER, text, at);
  if (end === at) throw new Fault('Expecting value', at);
  return end;
}

function objectEnd(text: string, start: number): number {
  let at = skip(SPACE, text, start);
  if (text[at] === '}') return at + 1;
  for (;;) {
    if (text[at] !== '"') throw new Fault('Expecting property name enclosed in double quotes', at);
    at = skip(SPACE, text, string(text, at));
    if (text[at] !== ':') throw new Fault("Expecting ':' delimiter", at);
    at = skip(SPACE, text, value(text, skip(SPACE, text, at + 1)));
    if (text[at] === '}') return at + 1;
    if (text[at] !== ',') throw new Fault("Expecting ',' delimiter", at);
    at = skip(SPACE, text, at + 1);
  }
}

function listEnd(text: string, start: number): number {
  let at = skip(SPACE, text, start);
  if (text[at] === ']') return at + 1;
  for (;;) {
    at = skip(SPACE, text, value(text, at));
    if (text[at] === ']') return at + 1;
    if (text[at] !== ',') throw new Fault("Expecting ',' delimiter", at);
    at = skip(SPACE, text, at + 1);
  }
}

function string(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    at = skip(PLAIN, text, at);
    const stop = text[at];
    if (stop === '"') return at + 1;
    if (stop === undefined) throw new Fault('Unterminated string starting at', start);
    if (stop !== '\\') throw new Fault('Invalid control character at', at);
    const escape = text[at + 1];
    if (escape === undefined) throw new Fault('Unterminated string starting at', start);
    if (escape === 'u') {
      // Python wants to see a character after the escape.
      if (at + 6 >= text.length || !/^[0-9a-fA-F]{4}$/.test(text.slice(at + 2, at + 6)))
        throw new Fault('Invalid \\uXXXX escape', at + 1);
      at += 6;
    } else if (ESCAPE.test(escape)) at += 2;
    else throw new Fault('Invalid \\escape', at);
  }
}
