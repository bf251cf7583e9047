import { LRUCache } from 'lru-cache';

/** Limit of the bytes of all values together, and the function that measures one of them. */
interface Weight<V> {
  readonly bytes: number;
  readonly of: (value: V) => number;
}

/** Keeps a limited number of values by name, and of bytes where values can be large: those that were read or set last. */
export class Recent<V extends object | string | true> extends LRUCache<string, V> {
  constructor(most: number, weight?: Weight<V>) {
    super({ max: most, ...(weight && { maxSize: weight.bytes, sizeCalculation: weight.of }) });
  }
}

/** Estimated bytes of a member beside its name and the characters of its value. */
const EACH = 16;
/** Bytes up to which a value is counted, so that counting takes a few milliseconds at most. A larger one weighs `LARGE`. */
const COUNTED = 4 * 1024 * 1024;
const LARGE = 16 * 1024 * 1024;

/** Estimates the bytes that a value of JSON takes in memory. */
export function weightOf(value: object | null): number {
  let bytes = EACH;
  const open = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const name in next) {
      bytes += EACH + name.length;
      if (bytes > COUNTED) return LARGE;
      const member = (next as Readonly<Record<string, unknown>>)[name];
      if (typeof member === 'string') bytes += member.length;
      else if (typeof member === 'object') open.push(member);
    }
  }
  return bytes > COUNTED ? LARGE : bytes;
}
