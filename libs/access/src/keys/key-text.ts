import { crc32 } from 'node:zlib';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LENGTHS = { id: 22, random: 27, crc: 6 };
const FORM = /^fl_([0-9A-Za-z]{22})_([0-9A-Za-z]{27})_([0-9A-Za-z]{6})$/;
const UUID_LIMIT = 2n ** 128n;

/** Number of random bytes that `keyText` needs. */
export const KEY_RANDOM_BYTES = 20;

/**
 * Returns the text of a key: `fl_<id>_<random>_<crc>`, 60 characters. `id` is the UUID of the key and `random` 160
 * random bits, both in base 62. By the CRC-32 of the text before it, scanners and `keyIdOf` recognise keys.
 */
export function keyText(id: string, random: Buffer): string {
  const head = `fl_${encode(BigInt(`0x${id.replaceAll('-', '')}`), LENGTHS.id)}_${encode(BigInt(`0x${random.toString('hex')}`), LENGTHS.random)}`;
  return `${head}_${checksum(head)}`;
}

/** Returns the UUID in the text of a key; undefined when the text is no key or has a typing error. */
export function keyIdOf(text: string): string | undefined {
  const match = FORM.exec(text);
  if (!match || checksum(text.slice(0, -LENGTHS.crc - 1)) !== match[3]) return undefined;
  const value = decode(match[1]!);
  if (value >= UUID_LIMIT) return undefined;
  return value
    .toString(16)
    .padStart(32, '0')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function checksum(head: string): string {
  return encode(BigInt(crc32(head)), LENGTHS.crc);
}

function encode(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) text = DIGITS[Number(rest % 62n)]! + text;
  return text;
}

function decode(text: string): bigint {
  return [...text].reduce((value, digit) => value * 62n + BigInt(DIGITS.indexOf(digit)), 0n);
}
