import { createHash, randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { archive, type Entry, tarball } from '../testing/archive';
import { LARGEST_TEXT, readArchive, UnreadableArchive } from './archive-files';

const LIMITS = { files: 100, bytes: 4 * 1024 * 1024 };
const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');

/** The bytes as blocks of a size. */
async function* blocks(bytes: Buffer, size = 1000): AsyncIterable<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const read = (bytes: Buffer, wanted?: string) => readArchive(blocks(bytes), LIMITS, wanted);
const refused = async (bytes: Buffer) => {
  const error: unknown = await read(bytes).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(UnreadableArchive);
  return (error as Error).message;
};

describe('readArchive', () => {
  it('knows the files of an archive by path, with size, digest and kind', async () => {
    const binary = Buffer.from([1, 0, 2]);
    const { files } = await read(
      archive({ 'src/': '', './src/a.py': 'print(1)\n', 'b.bin': binary, link: { link: 'b.bin' } }),
    );
    expect(Object.fromEntries(files)).toEqual({
      'src/a.py': { bytes: 9, sha256: sha256('print(1)\n'), kind: 'text' },
      'b.bin': { bytes: 3, sha256: sha256(binary), kind: 'binary' },
      link: { bytes: 0, sha256: sha256('SymbolicLink b.bin'), kind: 'link' },
    });
  });

  it('returns the bytes of the wanted file unless it is too large', async () => {
    const bytes = archive({ a: 'of a', b: 'of b', c: 'x'.repeat(LARGEST_TEXT + 1) });
    expect((await read(bytes, 'b')).wanted?.toString()).toBe('of b');
    expect((await read(bytes, 'c')).wanted).toBeUndefined();
    expect((await read(bytes, 'd')).wanted).toBeUndefined();
  });

  it('takes the last of several files of one path', async () => {
    const bytes = gzipSync(
      tarball([
        ['a', 'first'],
        ['./a', 'second'],
      ]),
    );
    const { files, wanted } = await read(bytes, 'a');
    expect([files.size, files.get('a')?.sha256, wanted?.toString()]).toEqual([1, sha256('second'), 'second']);
  });

  it('reads what was written, in blocks of any size', async () => {
    const path = fc.stringMatching(/^[a-z]{1,20}(\/[a-z_]{1,20}){0,3}$/);
    const contents = fc.dictionary(path, fc.uint8Array({ maxLength: 3000 }), { minKeys: 1, maxKeys: 8 });
    await fc.assert(
      fc.asyncProperty(contents, fc.integer({ min: 1, max: 5000 }), async (sent, size) => {
        const entries: Record<string, Entry> = {};
        for (const [name, bytes] of Object.entries(sent)) entries[name] = Buffer.from(bytes);
        const { files } = await readArchive(blocks(archive(entries), size), LIMITS);
        const digests = Object.entries(entries).map(([name, bytes]) => [name, sha256(bytes as Buffer)]);
        expect([...files].map(([name, { sha256: digest }]) => [name, digest])).toEqual(digests);
      }),
      { numRuns: 50 },
    );
  });

  it('refuses what is no gzip tarball', async () => {
    expect(await refused(Buffer.from('text'))).toMatch(/^cannot be unpacked: /);
    expect(await refused(gzipSync(randomBytes(2000)))).toMatch(/^cannot be read: /);
  });

  it('refuses an archive that ends early, wherever it was cut', async () => {
    const whole = archive({ a: randomBytes(5000), b: randomBytes(5000) });
    for (let length = 1; length < whole.length; length += 997) {
      await expect(read(whole.subarray(0, length))).rejects.toThrow(UnreadableArchive);
    }
    const cut = tarball([['a', 'x'.repeat(5000)]]).subarray(0, 3000);
    await expect(read(gzipSync(cut))).rejects.toThrow(UnreadableArchive);
  });

  it('stops at an archive that is much larger when it is unpacked', async () => {
    const zeros = gzipSync(tarball([['a', Buffer.alloc(16 * 1024 * 1024)]]));
    expect(zeros.length).toBeLessThan(100_000);
    expect(await refused(zeros)).toBe('has more than 4194304 bytes when it is unpacked.');
  });

  it('stops at too many files, and at long paths', async () => {
    const many = tarball(Array.from({ length: 101 }, (_, index) => [`file-${index}`, ''] as const));
    expect(await refused(gzipSync(many))).toBe('has more than 100 files.');
    expect(await refused(gzipSync(withLongPath(`${'p/'.repeat(3000)}a`)))).toBe(
      'has a path of more than 4096 characters.',
    );
  });

  it('stops at paths that are long together, each of them within the limit', async () => {
    const folders = 'p/'.repeat(2000);
    const many = Array.from({ length: 1100 }, (_, index) => withLongPath(`${folders}${index}`));
    const limits = { files: 30_000, bytes: 64 * 1024 * 1024 };
    await expect(readArchive(blocks(gzipSync(Buffer.concat(many)), 10_000), limits)).rejects.toThrow(
      'has paths of more than 4194304 characters together.',
    );
  });

  it('fails with the error of its source', async () => {
    const gone = new Error('The database is away.');
    async function* broken(): AsyncIterable<Buffer> {
      yield archive({ a: randomBytes(5000) }).subarray(0, 1000);
      throw gone;
    }
    await expect(readArchive(broken(), LIMITS)).rejects.toBe(gone);
  });
});

/** A file whose path does not fit into its header and stands in an entry before it; without the end of an archive. */
function withLongPath(path: string): Buffer {
  const record = `path=${path}\n`;
  const entries = tarball([
    ['PaxHeader', `${record.length + 5} ${record}`],
    ['a', 'text'],
  ]);
  entries[156] = 'x'.charCodeAt(0);
  entries.write(checksum(entries.subarray(0, 512)), 148, 'latin1');
  return entries.subarray(0, -1024);
}

/** The field of a header that proves the rest of it. */
function checksum(header: Buffer): string {
  const blank = Buffer.from(header);
  blank.fill(' ', 148, 156);
  return `${blank
    .reduce((sum, byte) => sum + byte, 0)
    .toString(8)
    .padStart(6, '0')}\0 `;
}
