import type { SigningKey } from '../../../../cli/src/api/exported-seals';
import { keptFrom, keysOf, verifyExport } from './verify-history';

const STREAM = 'deployment-1';

const base64Url = (bytes: ArrayBuffer) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
const encoded = (text: string) => new TextEncoder().encode(text);

/** A history of so many events as the service exports it, the hash up to each of them, and the key. */
async function exported(count: number) {
  const hashes = [''];
  const lines: string[] = [];
  for (let at = 0; at < count; at++) {
    const [id, version, type, data, metadata, time] = [
      `e${at}`,
      at + 1,
      'Changed',
      { at },
      { previous: hashes[at] },
      't',
    ];
    const text = JSON.stringify([hashes[at], STREAM, version, id, type, data, metadata, time]);
    hashes.push(base64Url(await crypto.subtle.digest('SHA-256', encoded(text))));
    lines.push(JSON.stringify({ id, stream: STREAM, version, type, data, metadata, time }));
  }
  const pair = (await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])) as CryptoKeyPair;
  const head = { stream: STREAM, version: count, hash: hashes[count], exported_at: '2026-01-01T00:00:00.000Z' };
  const said = JSON.stringify(['fairlead stream', head.stream, head.version, head.hash, head.exported_at]);
  const signature = base64Url(await crypto.subtle.sign('Ed25519', pair.privateKey, encoded(said)));
  const jwk = await crypto.subtle.exportKey('jwk', pair.publicKey);
  const keys = keysOf(JSON.stringify({ keys: [{ ...jwk, kid: 'k1' }] }));
  return { lines: [...lines, JSON.stringify({ head, key_id: 'k1', signature })], hashes, keys };
}

let lines: readonly string[];
let hashes: readonly string[];
let keys: readonly SigningKey[];

beforeAll(async () => ({ lines, hashes, keys } = await exported(3)));

const fileOf = (some: readonly string[]) => new Blob([`${some.join('\n')}\n`]);
const verified = async (changed: readonly string[], kept?: ReturnType<typeof keptFrom>) =>
  verifyExport(fileOf(changed), { keys, kept: await kept });

it('says whose signature it is, and of how many events', async () => {
  expect(await verified(lines, keptFrom(`2:${hashes[2]}`, undefined))).toEqual({
    stream: STREAM,
    events: 3,
    signedBy: 'k1',
    exportedAt: '2026-01-01T00:00:00.000Z',
    unchecked: ['No verdict on version 3 of 3: no head or seal that was kept vouches for it.'],
  });
  expect(await verified(lines, keptFrom('', fileOf(lines)))).toMatchObject({ unchecked: [] });
  await expect(keptFrom('', fileOf(['text']))).rejects.toThrow('neither an export nor a list of seals');
});

it.each<[string, () => readonly string[], string]>([
  ['an event that was changed', () => lines.map((line) => line.replace('"at":1', '"at":7')), 'before line 3'],
  ['an event that is missing', () => [lines[0]!, ...lines.slice(2)], 'Line 2: version 2 of deployment-1 belongs here.'],
  ['events that were cut off', () => [...lines.slice(0, 2), lines[3]!], 'It holds 2 events, and 3 were exported.'],
  [
    'another head',
    () => lines.map((line) => line.replace('"version":3,"hash"', '"version":4,"hash"')),
    'The signature is wrong.',
  ],
  ['no signature', () => lines.slice(0, 3), 'The last line, which holds the signature, is missing.'],
  ['what is no JSON', () => ['text', ...lines.slice(1)], 'Line 1 is not a JSON object.'],
])('refuses %s', async (_, changed, problem) => {
  await expect(verified(changed())).rejects.toThrow(problem);
});

it('refuses an unknown key, and a history that is not the one whose head was kept', async () => {
  await expect(verifyExport(fileOf(lines), { keys: [] })).rejects.toThrow('which is not among the keys');
  await expect(verified(lines, keptFrom(`2:${hashes[1]}`, undefined))).rejects.toThrow('Up to line 2');
  await expect(verified(lines, keptFrom(`9:${hashes[1]}`, undefined))).rejects.toThrow('It ends with version 3');
  await expect(keptFrom('2:short', undefined)).rejects.toThrow('version:hash');
});

it('reads a file in parts, tells how far it is, and stops when it is told to', async () => {
  const { lines: many, keys } = await exported(2000);
  const file = fileOf(many);
  // As large files come: some lines are in two parts, some characters too.
  const text = new TextEncoder().encode(await file.text());
  file.stream = () =>
    new ReadableStream({
      start(parts) {
        for (let at = 0; at < text.length; at += 1000) parts.enqueue(text.slice(at, at + 1000));
        parts.close();
      },
    });
  const read: number[] = [];
  expect(await verifyExport(file, { keys, onRead: (bytes) => read.push(bytes) })).toMatchObject({ events: 2000 });
  expect(read.length).toBeGreaterThan(1);
  expect(read.at(-1)).toBe(file.size);
  const stopping = new AbortController();
  const stopped = verifyExport(file, { keys, onRead: () => stopping.abort(), signal: stopping.signal });
  await expect(stopped).rejects.toThrow('aborted');
});
