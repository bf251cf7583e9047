import { type Kept, keptOf } from '../../../../cli/src/api/exported-history';
import { type Cryptography, keptSealsOf, type SigningKey } from '../../../../cli/src/api/exported-seals';
import { verifyExport as verifyLines } from '../../../../cli/src/api/exported-workspace';

/** A larger export takes a page minutes: the command line verifies it. */
export const MOST_BYTES = 256 * 1024 * 1024;

interface Verification {
  readonly keys: readonly SigningKey[];
  readonly kept?: Kept;
  /** The workspace that the export of a workspace must be of. */
  readonly workspace?: string;
  /** Told how many bytes have been read. */
  readonly onRead?: (bytes: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * Verifies an export of a history or a workspace as the command line does, with the cryptography of the browser: nothing
 * leaves it. It is read in parts, and of the events only numbers stay in memory. @throws Error that says what is not as it was
 */
export async function verifyExport(file: Blob, { keys, kept, workspace, onRead, signal }: Verification) {
  if (!('subtle' in crypto)) {
    throw new Error('This browser verifies only pages of https or of this machine: use fairlead audit verify.');
  }
  if (file.size > MOST_BYTES) {
    throw new Error(`It has more than ${MOST_BYTES / 1024 ** 2} MB: fairlead audit verify verifies it.`);
  }
  const lines = linesOf(file, onRead, signal);
  const beginning = await file.slice(0, 64 * 1024).text();
  const isWorkspace = beginning.trimStart().startsWith('{"workspace":');
  return verifyLines(lines, keys, ofBrowser, kept, isWorkspace ? workspace : undefined);
}

/** The lines of a file that are not empty, while it is read. */
async function* linesOf(file: Blob, onRead?: (bytes: number) => void, signal?: AbortSignal): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let [rest, read] = ['', 0];
  const reader = file.stream().getReader();
  for (;;) {
    signal?.throwIfAborted();
    const { done, value } = await reader.read();
    rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
    const lines = rest.split('\n');
    rest = done ? '' : lines.pop()!;
    for (const line of lines) if (line.trim() !== '') yield line;
    if (done) return;
    read += value.length;
    onRead?.(read);
  }
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
export async function keptFrom(head: string, file: Blob | undefined): Promise<Kept> {
  const kept: Kept = head.trim() === '' ? {} : { head: headOf(head) };
  if (file === undefined) return kept;
  let last = '';
  for await (const line of linesOf(file)) last = line;
  const exported = keptOf(last);
  if (exported) return { ...exported, ...kept };
  const seals = file.size > MOST_BYTES ? undefined : keptSealsOf(await file.text());
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
