/** A public key of an installation, by its name. */
export type SigningKey = JsonWebKey & { readonly kid: string };

/** What an exported history is found to be. */
interface Verified {
  readonly stream: string;
  readonly events: number;
  readonly signedBy: string;
  readonly exportedAt: string;
}

interface Event {
  readonly id: string;
  readonly stream: string;
  readonly version: number;
  readonly type: string;
  readonly data: unknown;
  readonly metadata: { readonly previous?: string };
  readonly time: string;
}

interface Head {
  readonly stream: string;
  readonly version: number;
  readonly hash: string;
  readonly exported_at: string;
}

interface Signed {
  readonly head: Head;
  readonly key_id: string;
  readonly signature: string;
}

/** A place in a history that somebody has kept: its hash up to a version. */
interface ExpectedHead {
  readonly version: number;
  readonly hash: string;
}

/**
 * Verifies an exported history with what the browser brings, so that nothing leaves it: that its events are those that
 * were exported, all of them and in their order, that one of `keys` signed that, and that it holds what it held when
 * `expected` was kept. @throws Error that says what is not as it was
 */
export async function verifyHistory(
  text: string,
  keys: readonly SigningKey[],
  expected?: ExpectedHead,
): Promise<Verified> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const last = parsed(lines.at(-1) ?? '', lines.length) as Partial<Signed>;
  if (typeof last.head !== 'object') throw new Error('The last line, which holds the signature, is missing.');
  const { head, key_id, signature } = last as Signed;
  const { hash, where } = await chained(lines.slice(0, -1), head.stream, expected);
  const key = keys.find(({ kid }) => kid === key_id);
  if (!key) throw new Error(`It was signed with the key ${String(key_id)}, which is not among the keys.`);
  const said = JSON.stringify(['fairlead stream', head.stream, head.version, head.hash, head.exported_at]);
  if (!(await isSigned(said, String(signature), key))) throw new Error('The signature is wrong.');
  const count = lines.length - 1;
  if (count !== head.version) throw new Error(`It holds ${count} events, and ${head.version} were exported.`);
  if (hash !== head.hash) throw new Error(`The events are not those that were exported${where}.`);
  if (expected && count < expected.version) {
    throw new Error(`It ends with version ${count}, and the head that was kept is of ${expected.version}.`);
  }
  return { stream: head.stream, events: count, signedBy: key_id, exportedAt: head.exported_at };
}

/** The hash of all events, and where they first were not what a later event says. */
async function chained(lines: readonly string[], of: string, expected?: ExpectedHead) {
  let hash = '';
  let where = '';
  let held: string | undefined;
  for (const [at, line] of lines.entries()) {
    const { id, stream, version, type, data, metadata, time } = parsed(line, at + 1) as Event;
    if (stream !== of || version !== at + 1)
      throw new Error(`Line ${at + 1}: version ${at + 1} of ${of} belongs here.`);
    // The events of one append hold the same hash: that of the stream before the first of them.
    const previous = (metadata as Event['metadata'] | null)?.previous;
    if (previous !== undefined && previous !== held) {
      held = previous;
      if (previous !== hash && where === '') where = `: the fault is before line ${at + 1}`;
    }
    hash = await sha256(JSON.stringify([hash, stream, version, id, type, data, metadata, time]));
    if (version === expected?.version && hash !== expected.hash) {
      throw new Error(`Up to line ${at + 1} it is not the history that the head was kept of.`);
    }
  }
  return { hash, where };
}

function parsed(line: string, number: number): object {
  try {
    const value = JSON.parse(line) as unknown;
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Told below.
  }
  throw new Error(`Line ${number} is not a JSON object.`);
}

/** The keys of a file as the service answers them. @throws Error */
export function keysOf(text: string): SigningKey[] {
  const { keys } = parsed(text, 1) as { keys?: unknown };
  if (!Array.isArray(keys)) throw new Error('The file of keys has no list “keys”.');
  return keys as SigningKey[];
}

/** The head that somebody kept, as `version:hash`; undefined when the text is empty. @throws Error */
export function headOf(text: string): ExpectedHead | undefined {
  if (text.trim() === '') return undefined;
  const [, version, hash] = /^(\d{1,15}):([\w-]{43})$/.exec(text.trim()) ?? [];
  if (version === undefined || hash === undefined) throw new Error('The head that was kept has the form version:hash.');
  return { version: Number(version), hash };
}

async function sha256(text: string): Promise<string> {
  return base64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
}

async function isSigned(text: string, signature: string, { kty, crv, x }: SigningKey): Promise<boolean> {
  try {
    const key = await crypto.subtle.importKey('jwk', { kty, crv, x }, 'Ed25519', false, ['verify']);
    return await crypto.subtle.verify('Ed25519', key, bytesOf(signature), new TextEncoder().encode(text));
  } catch {
    return false;
  }
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
