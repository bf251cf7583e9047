import type { SourceFile } from './source-files';

const BLOCK = 512;
/** Longest name of a file in a header of its own format (bytes). */
const LONGEST_NAME = 100;
/** Largest archive that the service takes (bytes). */
export const MOST_PACKED = 200 * 1024 * 1024;
const text = new TextEncoder();

interface Packing {
  readonly signal: AbortSignal;
  /** Told of the bytes of files that are packed. */
  readonly onBytes: (count: number) => void;
  /** Bytes of the archive. */
  readonly most?: number;
}

/** Packs files into a gzip tarball. @throws Error in a sentence when it is too large, or a file cannot be read */
export async function pack(
  files: readonly SourceFile[],
  { signal, onBytes, most = MOST_PACKED }: Packing,
): Promise<Blob> {
  const blocks = tar(files, onBytes);
  const source = new ReadableStream<BufferSource>({
    async pull(controller) {
      const { done, value } = await blocks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
  const reader = source.pipeThrough(new CompressionStream('gzip'), { signal }).getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts, { type: 'application/gzip' });
    parts.push(value as Uint8Array<ArrayBuffer>);
    size += value.length;
    if (size <= most) continue;
    await reader.cancel();
    throw new Error('The source has more than 200 MiB when it is packed. Name in .gitignore what is no part of it.');
  }
}

async function* tar(
  files: readonly SourceFile[],
  onBytes: (count: number) => void,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (const { path, file } of files) {
    const name = text.encode(path);
    // The format has names of a hundred bytes in ASCII; a header before it gives any other one.
    const isPlain = name.length <= LONGEST_NAME && name.length === path.length;
    if (!isPlain) {
      const record = paxRecord('path', path);
      yield header({ name: 'path', type: 'x', size: record.length, mode: 0o644, time: 0 });
      yield padded(record);
    }
    const mode = (await isScript(file)) ? 0o755 : 0o644;
    const shown = isPlain ? path : 'long-name';
    yield header({ name: shown, type: '0', size: file.size, mode, time: Math.floor(file.lastModified / 1000) });
    let size = 0;
    const reader = file.stream().getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      onBytes(value.length);
      yield value as Uint8Array<ArrayBuffer>;
    }
    if (size !== file.size) throw new Error(`${path} has changed while it was packed.`);
    yield new Uint8Array(-size & (BLOCK - 1));
  }
  yield new Uint8Array(2 * BLOCK);
}

interface Header {
  readonly name: string;
  /** `0`: a file; `x`: further members of the file that follows. */
  readonly type: '0' | 'x';
  readonly size: number;
  readonly mode: number;
  /** Seconds since 1970. */
  readonly time: number;
}

/** A header of the format ustar (POSIX.1-1988). */
function header({ name, type, size, mode, time }: Header): Uint8Array<ArrayBuffer> {
  const block = new Uint8Array(BLOCK);
  const put = (at: number, value: string) => block.set(text.encode(value), at);
  const octal = (value: number, digits: number) => Math.max(0, value).toString(8).padStart(digits, '0');
  put(0, name);
  put(100, octal(mode, 7));
  put(108, octal(0, 7));
  put(116, octal(0, 7));
  put(124, octal(size, 11));
  put(136, octal(time, 11));
  // The sum is made with blanks in its place.
  put(148, ' '.repeat(8));
  put(156, type);
  put(257, 'ustar\0' + '00');
  put(
    148,
    `${octal(
      block.reduce((sum, byte) => sum + byte, 0),
      6,
    )}\0 `,
  );
  return block;
}

/** A member of an extended header (POSIX.1-2001): it begins with its own length in bytes. */
function paxRecord(member: string, value: string): Uint8Array<ArrayBuffer> {
  const rest = text.encode(` ${member}=${value}\n`).length;
  let length = rest + String(rest).length;
  if (rest + String(length).length > length) length++;
  return text.encode(`${length} ${member}=${value}\n`);
}

function padded(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(Math.ceil(bytes.length / BLOCK) * BLOCK);
  whole.set(bytes);
  return whole;
}

/** True when a file begins with `#!`: browsers do not tell which files may be executed. */
async function isScript(file: File): Promise<boolean> {
  return (await file.slice(0, 2).text()) === '#!';
}
