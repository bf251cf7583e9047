/** Numbers and identifiers that look random and are always the same for the same words. */

/** A number from 0 up to 1. */
export function chance(...words: readonly (string | number)[]): number {
  return hash(words.join('\n'), 0)[0] / 2 ** 32;
}

/** An identifier that nobody else has, as long as one of the words is one. */
export function identifier(...words: readonly (string | number)[]): string {
  const text = words.join('\n');
  const hex = [...hash(text, 1), ...hash(text, 2)].map((part) => part.toString(16).padStart(8, '0')).join('');
  // Version 8 of RFC 9562: an identifier made in a way of one's own.
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20)].join('-');
}

/** Two numbers of 32 bits that depend on every character. */
function hash(text: string, seed: number): [number, number] {
  let [one, two] = [0xdeadbeef ^ seed, 0x41c6ce57 ^ seed];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 2654435761);
    two = Math.imul(two ^ code, 1597334677);
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(two ^ (two >>> 13), 3266489909);
  two = Math.imul(two ^ (two >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  return [one >>> 0, two >>> 0];
}
