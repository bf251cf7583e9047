import { type Kept, keptOf, verifyHistory as verifyLines } from '../../../../cli/src/api/exported-history';
import { type Cryptography, keptSealsOf, type SigningKey } from '../../../../cli/src/api/exported-seals';

/**
 * Verifies an exported history as the command line does, with the cryptography of the browser: nothing leaves it.
 * @throws Error that says what is not as it was
 */
export function verifyHistory(text: string, keys: readonly SigningKey[], kept?: Kept) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return verifyLines(lines, keys, ofBrowser, kept);
}

const ofBrowser: Cryptography = {
  async sha256(text) {
    return base64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
  },
  async isSigned(text, signature, { kty, crv, x }) {
    try {
      const key = await crypto.subtle.importKey('jwk', { kty, crv, x }, 'Ed25519', false, ['verify']);
      return await crypto.subtle.verify('Ed25519', key, bytesOf(signature), new TextEncoder().encode(text));
    } catch {
      return false;
    }
  },
};

/** Returns the keys of a file as the service answers them. @throws Error */
export function keysOf(text: string): SigningKey[] {
  let answered: unknown;
  try {
    answered = JSON.parse(text);
  } catch {
    throw new Error('The file of keys is no JSON.');
  }
  const { keys } = Object(answered) as { keys?: unknown };
  if (!Array.isArray(keys)) throw new Error('The file of keys has no list “keys”.');
  return keys as SigningKey[];
}

/**
 * Returns what somebody kept: a head as `version:hash`, and an earlier export or seals of the log, one a line, from a
 * file. @throws Error
 */
export function keptFrom(head: string, file: string | undefined): Kept {
  const kept: Kept = head.trim() === '' ? {} : { head: headOf(head) };
  if (file === undefined) return kept;
  const exported = keptOf(file);
  if (exported) return { ...exported, ...kept };
  const seals = keptSealsOf(file);
  if (!seals) throw new Error('The file that was kept is neither an export nor a list of seals.');
  return { ...kept, seals };
}

function headOf(text: string): NonNullable<Kept['head']> {
  const [, version, hash] = /^(\d{1,15}):([\w-]{43})$/.exec(text.trim()) ?? [];
  if (version === undefined || hash === undefined) throw new Error('The head that was kept has the form version:hash.');
  return { version: Number(version), hash };
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
}
